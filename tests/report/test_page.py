from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
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

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
HTML = "<i>a</i> & \"b\" 'c'"
VOID = {"meta", "link", "img", "wbr"}


class Reader(HTMLParser):
    """A page as a list of elements, each with its text; refuses tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, dict(attrs), list[str]())
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, _, texts in self._open:
            texts.append(data)

    def texts(self, tag: str, **wanted: str) -> list[str]:
        """The texts of all elements of that tag with those attributes, in order; `_class` stands for class."""
        return [" ".join("".join(texts).split()) for found, _, texts in self._found(tag, wanted)]

    def attributes(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes, _ in self._found(tag, wanted)]

    def _found(self, tag: str, wanted: Mapping[str, str]) -> list[tuple[str, dict[str, str | None], list[str]]]:
        names = {name.lstrip("_"): value for name, value in wanted.items()}
        return [one for one in self.elements if one[0] == tag and names.items() <= one[1].items()]


def a_section(name: str = "study", **changes: Any) -> Section:
    return Section(
        **{"name": name, "title": f"About {name}", "question": "Why?", "result": "So.", "uncertainty": "Very."}
        | changes
    )


def read(*sections: Section, foot: Mapping[str, str] | None = None) -> Reader:
    figures = {drawing.name: SVG for section in sections for drawing in section.figures}
    return Reader(page("A title", sections, figures, foot or {"seed": "0"}))


def a_figure(name: str, **changes: str) -> ReportFigure:
    def never() -> Any:
        raise AssertionError("a page draws nothing")

    return ReportFigure(**{"name": name, "caption": "Lines.", "alternative": "Lines go up."} | changes, draw=never)


def test_all_claims_in_one_table_each_with_its_verdict_and_its_study() -> None:
    claims = [Claim("One", "1.0", "1.1", AGREES), Claim("Two", "2.0", "3.0", DIFFERS)]
    reader = read(
        a_section("first", claims=claims),
        a_section("none"),
        a_section("last", claims=[Claim("C", "p", "o", IN_PART)]),
    )
    assert reader.texts("td") == [
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
    assert [one["href"] for one in reader.attributes("a")].count("#study-none") == 1  # in the contents only
    assert [one["href"] for one in reader.attributes("a")].count("#study-last") == 2
    looks = {one["class"] for one in reader.attributes("span") if "verdict" in (one.get("class") or "")}
    assert looks == {"verdict agrees", "verdict in-part", "verdict differs"}
    assert (
        "Of 3 claims of the paper put to the test, this run agrees with 1, in part with 1, and differs from 1."
        in (reader.texts("p", _class="lead")[0])
    )


def test_findings_of_our_own_do_not_count_as_agreement() -> None:
    claims = [Claim("One", "1.0", "1.1", AGREES), Claim("Two", "not stated", "3.0", OURS)]
    reader = read(a_section(claims=claims))
    lead, legend = reader.texts("p", _class="lead")[0], reader.texts("p", _class="legend")[0]
    assert (
        "Of 1 claim of the paper put to the test, this run agrees with 1, in part with 0, and differs from 0;" in lead
    )
    assert "; it adds 1 finding of its own." in lead
    assert reader.texts("span", _class="verdict ours") == ["◇ ours"]
    assert "◇ marks what the paper does not state." in legend
    without = read(a_section(claims=claims[:1]))
    assert "◇" not in without.texts("body")[0]
    only_ours = read(a_section(claims=claims[1:]))
    assert "put to the test" not in only_ours.texts("body")[0]
    assert only_ours.texts("span", _class="verdict ours") == ["◇ ours"]


def test_every_verdict_has_its_own_look() -> None:
    assert len({SYMBOLS[verdict] for verdict in VERDICTS}) == len(VERDICTS)
    style = read(a_section()).texts("style")[0]
    looks = [re.search(rf"\.{verdict.replace(' ', '-')} {{([^}}]*)}}", style) for verdict in VERDICTS]
    assert len({look[1] for look in looks if look}) == len(VERDICTS)


def test_without_claims_nothing_is_said_about_them() -> None:
    reader = read(a_section())
    assert "claim" not in reader.texts("body")[0].lower()
    assert reader.texts("h2") == ["Contents", "About study", "This run"]


def test_what_a_study_says_is_one_paragraph() -> None:
    reader = read(a_section())
    assert "Asked. Why? Found. So. How sure. Very." in reader.texts("p")
    assert reader.texts("b") == ["Asked.", "Found.", "How sure."]
    assert "Asked. Why? Found. So." in read(a_section(uncertainty="")).texts("p")


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
    assert reader.texts("summary") == ["Long (2 rows)"]
    assert len(reader.texts("table")) == 2


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
    assert [one["class"] for one in reader.attributes("th", scope="col")] == ["text", look]
    assert [one["class"] for one in reader.attributes("td")] == [look] * len(cells)
    assert reader.texts("th", scope="row") == ["a"] * len(cells)


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
    assert reader.texts("td")[:3] == [HTML] * 3
    assert reader.texts("dt") == reader.texts("dd") == [HTML]


def test_long_policies_may_be_broken_and_read_the_same() -> None:
    policy = "thompson-bounded(hierarchical(epsilon-greedy,top=exp3(gamma=0.085)),recycle=true)"
    reader = read(a_section(result=policy, uncertainty="7.2 [6.4, 8.0]"))
    assert f"Asked. Why? Found. {policy} How sure. 7.2 [6.4, 8.0]" in reader.texts("p")
    assert len(reader.attributes("wbr")) == 5
    assert reader.texts("span", _class="whole") == ["[6.4, 8.0]"]


@pytest.mark.parametrize("text", ["Chosen (intention-to-treat)", "pooled [intention-to-treat-analysis]"])
def test_no_line_ends_with_the_bracket_that_opens_a_word(text: str) -> None:
    assert not read(a_section(result=text)).attributes("wbr")
    assert len(read(a_section(result=f"{text[:-1]}(thompson)")).attributes("wbr")) == 1


def test_minus_signs_are_true_ones_and_hyphens_stay() -> None:
    said = "-11.0 (-3) of [-1.5, -0.2]; 2-3 patients, epsilon-greedy, top-5, 1e-05, exp3(gamma=-1), -x"
    reader = read(a_section(result=said, listings=[Listing("-1 L", ["-2"], [["-3"]])]))
    true = "−11.0 (−3) of [−1.5, −0.2]; 2-3 patients, epsilon-greedy, top-5, 1e-05, exp3(gamma=-1), -x"
    assert f"Asked. Why? Found. {true} How sure. Very." in reader.texts("p")
    assert (reader.texts("th"), reader.texts("td", _class="number")) == (["−2"], ["−3"])


def test_the_foot_says_what_it_is_given_in_that_order() -> None:
    reader = read(a_section(), foot={"seed": "0", "version": "1.2", "duration": "3 min"})
    assert list(zip(reader.texts("dt"), reader.texts("dd"), strict=True)) == [
        ("seed", "0"),
        ("version", "1.2"),
        ("duration", "3 min"),
    ]


def test_a_figure_that_was_not_given_is_no_hole_in_the_page() -> None:
    with pytest.raises(Exception, match="missing"):
        page("A title", [a_section(figures=[a_figure("missing")])], {}, {})
