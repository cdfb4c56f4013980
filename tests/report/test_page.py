from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import pytest

from adhere.report.page import page
from adhere.report.section import (
    AGREES,
    DIFFERS,
    IN_PART,
    OURS,
    SYMBOLS,
    VERDICTS,
    Claim,
    Listing,
    ReportFigure,
    Section,
)

from .html_reader import Reader

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
HTML = "<i>a</i> & \"b\" 'c'"


def a_section(name: str = "study", **changes: Any) -> Section:
    return Section(
        **{"name": name, "title": f"About {name}", "question": "Why?", "result": "So.", "uncertainty": "Very."}
        | changes
    )


def read(*sections: Section, foot: Mapping[str, str] | None = None) -> Reader:
    figures = {drawing.name: SVG for section in sections for drawing in section.all_figures()}
    return Reader(page("A title", sections, figures, foot or {"seed": "0"}))


def a_figure(
    name: str, caption: str = "Lines.", alternative: str = "Lines go up.", wide: bool = False
) -> ReportFigure:
    def never() -> Any:
        raise AssertionError("a page draws nothing")

    return ReportFigure(name, caption, alternative, never, wide)


def test_claims_stand_with_their_study_and_their_verdicts_are_counted_at_the_top() -> None:
    claims = [Claim("One", "1.0", "1.1", AGREES), Claim("Two", "2.0", "3.0", DIFFERS)]
    reader = read(
        a_section("first", claims=claims),
        a_section("none"),
        a_section("last", claims=[Claim("C", "p", "o", IN_PART)]),
    )
    assert reader.texts("td") == [
        *("So.", "✓ 1 agrees ✗ 1 differs", "So.", "", "So.", "◐ 1 in part"),
        "One",
        "1.0",
        "1.1",
        "✓ agrees",
        "Two",
        "2.0",
        "3.0",
        "✗ differs",
        "C",
        "p",
        "o",
        "◐ in part",
    ]
    assert [one["href"] for one in reader.attributes("a")].count("#study-last") == 1
    assert len(reader.texts("table", _class="stacked claims")) == 2
    looks = {one["class"] for one in reader.attributes("span") if "verdict" in (one.get("class") or "")}
    assert looks == {"verdict agrees", "verdict in-part", "verdict differs"}
    assert (
        "Of 3 claims of the paper put to the test, this run agrees with 1, agrees in part with 1 and contradicts 1."
        in (reader.texts("p", _class="lead")[0])
    )


def test_findings_of_our_own_do_not_count_as_agreement() -> None:
    claims = [Claim("One", "1.0", "1.1", AGREES), Claim("Two", "not stated", "3.0", OURS)]
    reader = read(a_section(claims=claims))
    lead, legend = reader.texts("p", _class="lead")[0], reader.texts("p", _class="legend")[0]
    assert (
        "1 claim of the paper put to the test, this run agrees with 1, agrees in part with none and contradicts none;"
        in lead
    )
    assert "; it adds 1 finding of its own." in lead
    assert reader.texts("span", _class="verdict ours") == ["◇ 1 ours", "◇ ours"]
    assert "Ours is what the paper does not state." in legend
    without = read(a_section(claims=claims[:1]))
    assert "◇" not in without.texts("body")[0]
    only_ours = read(a_section(claims=claims[1:]))
    assert "put to the test" not in only_ours.texts("body")[0]
    assert only_ours.texts("span", _class="verdict ours") == ["◇ 1 ours", "◇ ours"]


def test_every_verdict_has_its_own_look() -> None:
    assert len({SYMBOLS[verdict] for verdict in VERDICTS}) == len(VERDICTS)
    style = read(a_section()).texts("style")[0]
    looks = [re.search(rf"\.{verdict.replace(' ', '-')} {{([^}}]*)}}", style) for verdict in VERDICTS]
    assert len({look[1] for look in looks if look}) == len(VERDICTS)


def test_without_claims_nothing_is_said_about_them() -> None:
    reader = read(a_section())
    assert "put to the test" not in reader.texts("body")[0]
    assert not reader.texts("p", _class="legend")
    assert reader.texts("h2") == ["In one table", "Words used here", "About study", "This run"]
    assert reader.texts("h3") == ["Question", "Result", "Uncertainty"]


def test_a_study_is_question_result_and_uncertainty_beside_its_main_figure() -> None:
    figures = [a_figure("main"), a_figure("other")]
    reader = read(a_section(figures=figures, details=["First.", "Second."]))
    assert reader.texts("h3") == ["Question", "Result", "Uncertainty", "In more detail", "More figures"]
    assert reader.texts("div", _class="words") == ["Question Why? Result So. Uncertainty Very."]
    assert reader.texts("p", _class="result") == ["So."]
    assert reader.texts("li") == ["First.", "Second."]
    (summary,) = reader.texts("div", _class="summary")
    assert summary.endswith("Very. Lines. PNG SVG")
    assert len(reader.texts("figure")) == 2
    assert "Uncertainty" not in read(a_section(uncertainty="")).texts("h3")


def test_headline_figures_stand_at_the_top() -> None:
    both = read(*(a_section(name, headline=a_figure(f"{name}-top", caption=f"{name}!")) for name in "ab"))
    assert both.texts("h2")[0] == "In two pictures"
    assert both.texts("figure", _class="headline") == ["a! PNG SVG", "b! PNG SVG"]
    assert "picture" not in read(a_section()).texts("h2")[0]


def test_words_are_explained_at_the_front_and_linked_where_they_come_first() -> None:
    reader = read(a_section(result="Chosen and Actual: regrets, not Chosen nor self-expert", claims=[]))
    for word in ("Chosen", "Actual", "Comply", "surplus", "regret", "recycling", "certified", "expert", "protocol"):
        assert word in reader.texts("dt")
    assert reader.texts("a", _class="word") == ["Chosen", "Actual", "regrets"]
    assert [one["href"] for one in reader.attributes("a", _class="word")][2] == "#word-regret"


def test_every_link_within_the_page_leads_somewhere_and_no_name_is_given_twice() -> None:
    listing = Listing("Numbers", ["a"], [["1"]])
    reader = read(
        *(a_section(name, listings=[listing, listing], claims=[Claim("C", "p", "o", AGREES)]) for name in "ab")
    )
    names = [attributes["id"] for _, attributes, _ in reader.elements if "id" in attributes]
    assert len(names) == len(set(names))
    inside = [href[1:] for one in reader.attributes("a") if (href := one["href"] or "").startswith("#")]
    labels = [label for _, attributes, _ in reader.elements if (label := attributes.get("aria-labelledby"))]
    assert {*inside, *labels} <= set(names)


def test_headings_go_down_one_step_at_a_time() -> None:
    reader = read(a_section(claims=[Claim("C", "p", "o", AGREES)], listings=[Listing("L", ["a"], [["1"]])]))
    levels = [int(tag[1]) for tag, _, _ in reader.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_figures_are_inside_the_page_and_link_to_their_files() -> None:
    reader = read(a_section(figures=[a_figure("along t", caption="Surplus.", alternative=HTML)]))
    (image,) = reader.attributes("img")
    start, encoded = (image["src"] or "").split(",")
    assert start == "data:image/svg+xml;base64"
    assert base64.b64decode(encoded) == SVG
    assert image["alt"] == HTML
    files = [unquote(href) for one in reader.attributes("a") if (href := one["href"] or "").startswith("figures/")]
    assert files == ["figures/along t.png", "figures/along t.svg"]
    assert reader.texts("figcaption") == ["Surplus. PNG SVG"]


def test_tables_can_be_reached_and_scrolled_by_keyboard() -> None:
    reader = read(a_section(listings=[Listing("All numbers", ["policy", "surplus"], [["thompson", "1.0"]])]))
    (box,) = reader.attributes("div", _class="scroll")
    assert (box["tabindex"], box["role"]) == ("0", "region")
    assert reader.texts("p", id=box["aria-labelledby"] or "") == ["All numbers"]


def test_only_a_folded_table_has_to_be_opened() -> None:
    listing = [["thompson", "1.0"], ["ucb1", "2.0"]]
    reader = read(
        a_section(listings=[Listing("Short", ["p", "s"], listing), Listing("Long", ["p", "s"], listing, True)])
    )
    assert reader.texts("summary") == ["Words used here", "Long (2 rows)"]
    assert len(reader.texts("div", _class="scroll")) == 2


@pytest.mark.parametrize(
    ("cells", "look"),
    [
        (["1", "20"], "number"),
        (["7.9 [7.2, 8.7]", "-1,234.5", "+0.1", "−3"], "number"),
        (["12%", "3.5 ± 0.1", "1e-05", "10⁻³", "<0.001"], "number"),
        (["0.5", "", "—", "reference"], "number"),
        (["thompson", "1.0"], "text"),
        (["2 of 3"], "text"),
        (["", "—"], "text"),
        ([], "text"),
        (["hierarchical(epsilon-greedy, top=exp3)"], "long"),
    ],
)
def test_columns_of_numbers_are_set_to_the_right(cells: Sequence[str], look: str) -> None:
    reader = read(a_section(listings=[Listing("L", ["name", "value"], [["a", cell] for cell in cells])]))
    assert [one.get("class") for one in reader.attributes("th", scope="col")][-2:] == ["text", look]
    assert [one["class"] for one in reader.attributes("td") if "role" not in one] == [look] * len(cells)
    assert reader.texts("th", scope="row")[1:] == ["a"] * len(cells)


def test_texts_are_texts_whatever_they_contain() -> None:
    section = a_section(
        title=HTML,
        question=HTML,
        claims=[Claim(HTML, HTML, HTML, AGREES)],
        figures=[a_figure("name", caption=HTML)],
        listings=[Listing(HTML, [HTML], [[HTML]]), Listing(HTML, [HTML], [[HTML]], folded=True)],
        credits=HTML,
    )
    text = page(HTML, [section], {"name": SVG}, {HTML: HTML})
    reader = Reader(text)
    assert "<i>" not in text
    assert reader.texts("title") == [HTML]
    assert reader.texts("h1") == [HTML]
    assert reader.texts("p", _class="credits") == [HTML]
    assert reader.texts("td", role="cell")[2:5] == [HTML] * 3
    assert (reader.texts("dt")[-1], reader.texts("dd")[-1]) == (HTML, HTML)


def test_long_policies_may_be_broken_and_read_the_same() -> None:
    policy = "thompson-bounded(hierarchical(epsilon-greedy,top=exp3(gamma=0.085)),recycle=true)"
    reader = read(a_section(result=policy, uncertainty="7.2 [6.4, 8.0]"))
    assert reader.texts("p", _class="result") == [policy]
    assert len(reader.attributes("wbr")) == 10  # in the section, and in the table of all
    assert reader.texts("span", _class="whole") == ["[6.4, 8.0]"]


@pytest.mark.parametrize("text", ["Chosen (intention-to-treat)", "pooled [intention-to-treat-analysis]"])
def test_no_line_ends_with_the_bracket_that_opens_a_word(text: str) -> None:
    assert not read(a_section(result=text)).attributes("wbr")
    assert len(read(a_section(result=f"{text[:-1]}(thompson)")).attributes("wbr")) == 2


def test_minus_signs_are_true_ones_and_hyphens_stay() -> None:
    said = "-11.0 (-3) of [-1.5, -0.2]; 2-3 patients, epsilon-greedy, top-5, 1e-05, exp3(gamma=-1), -x"
    reader = read(a_section(result=said, listings=[Listing("-1 L", ["-2"], [["-3"]])]))
    true = "−11.0 (−3) of [−1.5, −0.2]; 2-3 patients, epsilon-greedy, top-5, 1e-05, exp3(gamma=-1), -x"
    assert reader.texts("p", _class="result") == [true]
    assert (reader.texts("th", scope="col")[-1], reader.texts("td", _class="number")) == ("−2", ["−3"])


def test_the_foot_says_what_it_is_given_in_that_order() -> None:
    reader = read(a_section(), foot={"seed": "0", "version": "1.2", "duration": "3 min"})
    assert list(zip(reader.texts("dt"), reader.texts("dd"), strict=True))[-3:] == [
        ("seed", "0"),
        ("version", "1.2"),
        ("duration", "3 min"),
    ]


def test_a_figure_that_was_not_given_is_no_hole_in_the_page() -> None:
    with pytest.raises(Exception, match="missing"):
        page("A title", [a_section(figures=[a_figure("missing")])], {}, {})


def test_a_report_on_something_else_has_its_own_lead_and_words_and_needs_no_files() -> None:
    wide = a_figure("map", wide=True)
    section = a_section(figures=[wide, a_figure("other")], result="The frontier of Chosen.")
    text = page("T", [section], {"map": SVG, "other": SVG}, {}, lead="A lead <b>.", glossary={"frontier": "A line."},
                figure_files=False)  # fmt: skip
    reader = Reader(text)
    (lead,) = reader.texts("p", _class="lead")
    assert lead == "A lead <b>. Every number here was computed by the run described at the foot."
    assert reader.texts("h2") == ["About study", "Words used here", "This run"]
    assert reader.texts("dt") == ["frontier"]
    assert reader.texts("a", _class="word") == ["frontier"]
    assert reader.texts("figure", _class="wide") == ["Lines."]
    assert reader.texts("div", _class="summary above") == [
        "Question Why? Result The frontier of Chosen. Uncertainty Very."
    ]
    assert not [one for one in reader.attributes("a") if (one["href"] or "").startswith("figures/")]
