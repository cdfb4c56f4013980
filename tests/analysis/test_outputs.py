"""What an analysis looks like: on a terminal of any width, as a page, as JSON; nowhere a NaN."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from adhere.analysis.analyse import analyse_records
from adhere.analysis.analysis import Analysis
from adhere.analysis.estimates import ConfidenceSet, Quantity, Shape, View
from adhere.analysis.fixed_sample.means import ArmMean
from adhere.analysis.formatting import estimate, needed, p_value, percent
from adhere.analysis.output.effect_rows import effect_rows
from adhere.analysis.output.page import analysis_page
from adhere.analysis.output.summary import summary
from adhere.analysis.output.tables import means_table
from adhere.analysis.output.to_json import SCHEMA_VERSION, json_text, to_json
from adhere.report.page import _classes
from analysis.made_analysis import made
from analysis.made_records import made as made_of
from report.html_reader import Reader

BAD = re.compile(r"\b(nan|inf|none|true|false)\b(?! without)", re.IGNORECASE)


@pytest.fixture(scope="module")
def of_three() -> Analysis:
    return made(3, n_strata=2)


@pytest.fixture(scope="module")
def html(of_three: Analysis) -> str:
    return analysis_page(of_three)


@pytest.mark.parametrize("n_arms", [2, 6, 9])
@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_lines_fit_the_terminal(n_arms: int, width: int) -> None:
    lines = summary(made(n_arms, n_strata=20), width).split("\n")
    assert max(map(len, lines)) <= min(100, max(60, width))


def test_long_names_are_broken_not_cut() -> None:
    name = "a very long name of a trial " * 5
    text = summary(made(2, name=name), 80)
    assert max(map(len, text.split("\n"))) <= 80
    assert name.replace(" ", "") in text.replace(" ", "").replace("\n", "")


def test_terminal_has_every_part_and_the_verdict_last_but_for_notes(of_three: Analysis) -> None:
    text = summary(of_three)
    headings = [line for line in text.split("\n") if line and not line.startswith(" ")]
    for words in (
        "headache: 3,000 patients; arm 0 (control), arm 1, arm 2; adaptive allocation, order: time; data",
        "warning: What was taken cannot be trusted here.",
        "Flow: patients",
        "Compliance: ",
        "Missing values",
        "Mean outcome [95%] (n: patients) (fixed-sample, not adaptive; if missing at random)",
        "arm 2 against arm 0: difference in mean outcome",
        "arm 2 against arm 0: ratio of means",
        "Intention-to-treat, pair by pair",
        "Principal strata",
        "Does the outcome depend",
        "Allocation check",
        "Randomisation test",
        "Subgroups",
    ):
        assert any(line.startswith(words) for line in headings), words
    assert headings[-2:] == ["In words", "Notes"]
    assert "  - Confidence sequence: Its target is constant.\n" in text  # a note of six, once
    assert text.count("Its target is constant.") == 1
    assert "unbounded: below -0.600 or" in text
    assert "benefit 34 (20 to ∞, harm 100 to ∞)" in summary(made(2))
    assert "Nobody took the second arm." in text
    assert not BAD.search(text.replace("none without", ""))


def test_many_arms_are_summarised() -> None:
    of_nine = made(9)
    noted = [
        replace(one, note=f"{one.treatment} is noted.", difference=Quantity(None, reason=f"{one.treatment} has left"))
        for one in of_nine.effects.comparisons
    ]
    text = summary(replace(of_nine, effects=replace(of_nine.effects, comparisons=tuple(noted))))
    assert text.count("has left.") == 3
    assert "per-protocol of 4 pairs: arm 4 is noted." in " ".join(text.split())
    assert "more notes like the last" in text
    assert "28 more pairs of arms, and every view of each: --json or --html." in text
    assert "arm 1 against arm 0: difference" not in text


def test_every_view_is_a_row_with_its_promise(of_three: Analysis) -> None:
    rows = {row.label: row for row in effect_rows(of_three, "arm 1", "arm 0")}
    assert list(rows) == [
        "intention-to-treat",
        "intention-to-treat, complete cases",
        "intention-to-treat, worst-case bounds",
        "intention-to-treat, tipping point of arm 1",
        "intention-to-treat, confidence sequence",
        "intention-to-treat, AIPW",
        "compliers, Fieller",
        "compliers, delta method",
        "compliers, confidence sequence",
        "as-treated",
        "per-protocol",
        "bounds, without monotonicity",
        "bounds, with monotonicity",
    ]
    assert rows["intention-to-treat"].holds == "fixed-sample, not adaptive"
    assert effect_rows(made(2, adaptive=False), "arm 1", "arm 0")[0].holds == "fixed-sample"
    assert rows["compliers, confidence sequence"].text == "+0.030, empty: no constant effect fits"
    assert rows["compliers, Fieller"].pieces == [(float("-inf"), -0.6), (0.01, float("inf"))]
    assert rows["as-treated"].kind == "no estimand without further assumptions"
    assert rows["bounds, with monotonicity"].reason == "the data refute monotonicity"


def test_means_of_compliers_come_without_a_number_of_patients() -> None:
    whole = made(2)
    compliers = ArmMean(View.COMPLIERS, "arm 0", whole.effects.means[0].mean)  # which rests on both arms
    table = means_table(replace(whole, effects=replace(whole.effects, means=(*whole.effects.means, compliers))))
    assert dict(zip(table.header, table.rows[0], strict=True)) == {
        "arm": "arm 0",
        "intention-to-treat": "0.500 [0.450, 0.550] (n=1,000)",
        "compliers": "0.500 [0.450, 0.550]",
        "as-treated *": "0.500 [0.450, 0.550] (n=1,000)",
        "per-protocol *": "0.500 [0.450, 0.550] (n=1,000)",
    }


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (1.23, 1.06, 1.64, "benefit 1.2 (1.1 to 1.6)"),
        (9.96, 5.0, 1.0 / (0.15 - 0.1), "benefit 10 (5.0 to 20)"),  # not 21, which rounding would make of it
        (12.01, 10.5, 1234.5, "benefit 13 (11 to 1,235)"),
        (-2.5, -12.3, -1.4, "harm 2.5 (1.4 to 13)"),
    ],
)
def test_numbers_needed_are_rounded_up_and_small_ones_have_a_decimal(
    value: float, low: float, high: float, said: str
) -> None:
    assert needed(Quantity(value, (ConfidenceSet(low, high, ""),))) == said


def test_json_is_whole_plain_and_the_same_each_time(of_three: Analysis) -> None:
    text = json_text(of_three)
    read: dict[str, Any] = json.loads(text, parse_constant=lambda word: pytest.fail(word))
    assert read == to_json(of_three)
    assert text == json_text(made(3, n_strata=2))
    assert (read["schema"], read["schema_version"], read["version"]) == ("adhere-analysis", SCHEMA_VERSION, "0.1.0")
    assert read["digest"] == of_three.digest
    assert set(Analysis.__dataclass_fields__) <= set(read)
    empty = read["sequences"][1]["final"]
    assert (empty["shape"], empty["low"], empty["high"]) == ("empty", "inf", "-inf")
    assert read["sequences"][0]["t"][-1] == 1000


def test_page_is_one_valid_file_with_the_verdict_on_top(of_three: Analysis, html: str) -> None:
    reader = Reader(html)
    assert reader.texts("h1") == ["headache: what the records say"]
    headings = reader.texts("h2")
    assert headings[:2] == ["In words", "Every view side by side"]
    assert {"What each view estimates", "Flow of patients, and compliance", "As patients came", "Methods"} <= {
        *headings
    }
    assert "Warning: What was taken cannot be trusted here." in reader.texts("li")
    for one in reader.attributes("img"):
        assert (one["src"] or "").startswith("data:image/svg+xml;base64,")
        assert one["alt"]
    assert len(reader.attributes("img")) == 5
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", html)
    assert "script" not in {tag for tag, _, _ in reader.elements}
    cells = reader.texts("td")
    assert not [cell for cell in cells if re.search(r"\b(nan|inf)\b", cell, re.IGNORECASE)]
    foot = " ".join(reader.texts("dd"))
    assert of_three.digest in foot
    assert "adhere 0.1.0" in foot
    assert "Order" in " ".join(reader.texts("dt"))
    items = " ".join(reader.texts("li"))
    for reference in ("Wilson (1927)", "Newcombe (1998)", "Holm (1979)", "Simon and Simon (2011)"):
        assert reference in items
    assert "Mantel" not in items  # nothing here is stratified
    said = re.sub("<[^>]*>", "", " ".join(html.split()))
    assert "rather than arm 0: arm 1 +0.030 [−0.033, 0.093], any-time valid" in said
    assert "arm 1 against arm 0: p 0.210." in said
    assert "are two splits of the same patients" in said
    assert "An arrow: the set has no end on that side." in said
    assert "treatment policy" in cells
    assert "principal stratum" in cells


def test_page_of_little_leaves_out_what_is_not_there() -> None:
    whole = made(2, adaptive=False)
    everything = ConfidenceSet(float("-inf"), float("inf"), "Fieller", shape=Shape.EVERYTHING)
    comparisons = [
        replace(one, difference=replace(one.difference, value=None, sets=(everything,)))
        for one in whole.effects.comparisons
    ]
    effects = replace(whole.effects, comparisons=tuple(comparisons))
    little = replace(whole, effects=effects, aipw=(), randomisation=(), verdict=(), digest="", name="<b>&")
    flow = replace(whole.flow, arms=(replace(whole.flow.arms[0], arm="对照组"), *whole.flow.arms[1:]))
    little = replace(little, flow=flow)  # whose letters the figures' font lacks
    assert "unbounded: any value" in summary(little)
    nothing = replace(
        little, effects=replace(effects, comparisons=(), means=()), bounds=replace(whole.bounds, bounds=())
    )
    html = analysis_page(nothing)
    assert html == analysis_page(nothing)  # the same each time
    assert "No two arms can be compared." in html
    assert not {"As patients came", "Subgroups"} & {*Reader(html).texts("h2")}
    assert Reader(html).texts("h1") == ["<b>&: what the records say"]
    assert "nan" not in summary(nothing)


def test_estimands_say_what_each_view_answers(of_three: Analysis) -> None:
    said = {one.view: one for one in of_three.estimands}
    assert said["intention-to-treat"].strategy == "treatment policy"
    assert said["compliers"].strategy == "principal stratum"
    assert said["compliers"].assumes.startswith(
        "that arms were assigned at random, that assignment acts only through"
    )
    fixed = {one.view: one.assumes for one in made(2, adaptive=False).estimands}
    at_random = "; and that outcomes are missing at random given the arm assigned, what was taken and the stratum"
    assert fixed["intention-to-treat"].endswith(at_random)
    assert at_random in fixed["compliers"]
    assert fixed["compliers"].endswith(
        "; and that what was taken is missing at random given the arm assigned and the stratum"
    )
    assert said["as-treated"].strategy == said["per-protocol"].strategy == "none"
    assert said["as-treated"].estimand.startswith("none without further assumptions")
    assert "any-time valid" in said["intention-to-treat"].says
    assert said["everybody (bounds)"].says.startswith("arm 1: from -0.200 to 0.300, limits [-0.300, 0.400]; arm 2:")


def test_numbers_too_small_to_print_are_not_printed_as_something_else() -> None:
    """0.0007 is not 0.001, what rounds to zero has no sign, and nobody counts 300 digits of patients."""
    assert [p_value(p) for p in (0.0, 0.0007, 0.00099, 0.001)] == ["<0.001", "<0.001", "<0.001", "0.001"]
    assert str(ConfidenceSet(-1e-9, -0.0, "delta method")) == "[0.000, 0.000]"
    assert str(ConfidenceSet(-1e-9, -0.0, "", shape=Shape.OUTSIDE)) == "unbounded: below 0.000 or above 0.000"
    assert estimate(-1e-9, None) == estimate(-1e-9, None, sign=True) == "0.000"
    assert percent(Quantity(-1e-9, (ConfidenceSet(-1e-9, 0.5, ""),))) == "0.0% [0.0, 50.0]"
    assert needed(Quantity(1e300)) == "benefit more than 10^9"
    assert (
        needed(Quantity(-1e300, (ConfidenceSet(-1e300, -20.0, ""),))) == "harm more than 10^9 (20 to more than 10^9)"
    )
    rows = [(0, 0, 2e-300, 9), (0, 1, 1e-300, 2), (1, 1, 3e-300, 9), (1, 0, 1e-300, 2)]
    tiny = made_of(rows, ["旧", "🧪"])  # which the font of figures lacks: no warning of it is an error here
    found = analyse_records(tiny)
    for text in (summary(found), analysis_page(found)):
        assert not re.search(r"[-−+]0\.0+(?![\d.])", text)
        assert not re.search(r"\d{20}|(,\d{3}){5}", re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL))


def test_the_number_of_patients_is_apart_from_the_interval() -> None:
    analysis = made()
    (row, *_) = means_table(analysis).rows
    assert row[1] == "0.500 [0.450, 0.550] (n=1,000)"
    assert means_table(analysis).caption.startswith("Mean outcome [95%] (n: patients)")
    for shown in (analysis.summary(), analysis.to_html()):
        assert "(n=1,000)" in shown
        assert "] 1,000" not in shown
    assert _classes(means_table(analysis)) == ["text", "number", "number", "number"]


def test_rows_of_compliers_say_that_they_assume_no_defiers() -> None:
    """With 10% defiers the set held the effect among compliers in 77% of trials, and nothing in the data shows it."""
    analysis = analyse_records(made_of([(0, 0, 1.0, 30), (0, 0, 0.0, 70), (1, 1, 1.0, 40), (1, 1, 0.0, 30),
                                        (1, 0, 1.0, 9), (1, 0, 0.0, 21)]))  # fmt: skip
    (pair,) = {(one.treatment, one.control) for one in analysis.effects.comparisons}
    rows = {row.label: row.holds for row in effect_rows(analysis, *pair)}
    assert rows["compliers, Fieller, Anderson–Rubin"] == "fixed-sample, if no defiers"
    assert rows["intention-to-treat"] == "fixed-sample"
    assert rows["compliers, delta method (fails with weak instruments)"] == "approximate"
    assert "Principal strata, if there are no defiers" in analysis.summary()
