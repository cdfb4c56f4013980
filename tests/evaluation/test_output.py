"""What an evaluation looks like: on a terminal of any width, as a page, in a notebook; nowhere a NaN."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as replace_fields

from adhere.design.parts import Evidence, Looks, Stopping
from adhere.design.words import in_words
from adhere.evaluation.evaluation import Evaluation
from adhere.evaluation.output.figures import size_figure
from adhere.evaluation.output.grid_figures import power_figure
from adhere.evaluation.output.page import design_sections
from adhere.intervals import Estimate
from adhere.populations import ComplianceType, ComplianceTypes
from adhere.report.section import Section
from evaluation.made_evaluation import made, made_design
from report.html_reader import Reader

BAD = re.compile(r"\b(nan|inf|none)\b", re.IGNORECASE)
SMALL = {"effect": 0.2, "compliance": [1.0, 0.6], "confounding": 0.2}
STORY = {"effect": 0, "compliance": 0.7, "confounding": [0.0, 0.2, 0.4]}


@pytest.fixture(scope="module")
def one() -> Evaluation:
    return made(made_design(3), scenarios=SMALL)


@pytest.fixture(scope="module")
def several() -> Evaluation:
    rules: tuple[Evidence, ...] = ("belief", "wealth")
    ways = [(policy, by) for policy in ("thompson/actual", "thompson") for by in rules]
    return made(
        *(made_design(2, f"{policy}, {by}", policy, by) for policy, by in ways), scenarios=STORY, n_trials=100
    )


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_lines_fit_the_terminal(one: Evaluation, several: Evaluation, width: int) -> None:
    for evaluation in (one, several):
        text = evaluation.summary(width)
        assert max(map(len, text.split("\n"))) <= min(100, width)
        assert not BAD.search(text)


def test_terminal_of_one_design_has_its_numbers_with_their_errors(one: Evaluation) -> None:
    text = one.summary()
    power = one["effect 0.2, compliance 100%"].find("power").estimate
    assert isinstance(power, Estimate)
    assert power.se is not None
    assert f"{100 * power.mean:.1f}% ({100 * power.se:.1f})" in text
    assert (
        f"Design {one.designs[0].digest[:12]}; 400 trials in each of 6 scenarios, seed 7; adhere 0.4.0"
        in text.replace("\n", " ")
    )
    for words in (
        "Claims, sizes and patients",
        "What trials end with",
        "In words",
        "The largest type I error of 6 scenarios: ",
    ):
        assert words in text
    assert "false: about arms that do not differ" in text.replace("\n", " ")
    assert "note: looks in vain" in replace(one, notes=("looks in vain",)).summary()


def test_terminal_of_several_designs_has_paired_differences(several: Evaluation) -> None:
    text = several.summary()
    difference = several.results[1].difference("type_one").estimate
    assert isinstance(difference, Estimate)
    for words in (
        "4 designs side by side",
        "Claims: differences, with the same patients, in percentage points",
        "B - A",
        "A thompson/actual, belief:",
    ):
        assert words in text
    assert f"{100 * difference.mean:+.1f} (" in text


def test_page_can_be_attached_to_a_protocol_and_repeated(one: Evaluation) -> None:
    html = one.to_html("adhere design run stroke-unit.toml --trials 400 --seed 7")
    page = Reader(html)
    headings = page.texts("h2")
    for heading in ("The design", "Scenarios", "Type I error", "Power", "Sample size and duration", "The simulation"):
        assert heading in headings
    said = " ".join(page.texts("footer"))
    for words in (one.designs[0].digest, "400 in each scenario", "adhere 0.4.0", "--trials 400 --seed 7"):
        assert words in said
    images = page.attributes("img")
    assert len(images) == 7  # power, status, sizes, allocation, bias, coverage, convergence
    assert all(image["alt"] and not BAD.search(str(image["alt"])) for image in images)
    said = " ".join(page.texts("li"))
    assert all(sentence in said for sentence in in_words(one.designs[0]))
    tables = " ".join(page.texts("td"))
    assert not BAD.search(tables)
    for cell in ("intention-to-treat", "compliers", "any-time valid", "all alike", "stopping.superiority"):
        assert cell in " ".join([tables, *page.texts("th")])


def test_page_of_several_designs_begins_with_errors_as_confounding_grows(several: Evaluation) -> None:
    sections = {section.name: section for section in design_sections(several)}
    story = sections["errors"].headline
    assert story is not None
    assert "decided by belief thompson/actual at 0.4" in story.alternative
    assert [panel.get_title("left") for panel in story.draw().axes] == ["decided by belief", "decided by wealth"]
    (forest,) = sections["differences"].figures
    assert [panel.get_title("left") for panel in forest.draw().axes] == ["type I error, or power", "patients"]
    assert _column(sections["differences"], "design")[:3] == [design.name for design in several.designs[1:]]
    assert len(sections["design"].listings) == 2 + len(several.designs)
    assert "Patients are expected evenly, 1 a day." in sections["design"].details
    assert [
        "thompson, wealth",
        "Arms are recommended by thompson, which credits each outcome to the arm recommended.",
    ] in (sections["design"].listings[1].rows)


def _column(section: Section, heading: str) -> list[str]:
    listing = section.listings[0]
    return [row[list(listing.header).index(heading)] for row in listing.rows]


def test_power_curves_have_a_panel_for_each_confounding_and_full_compliance_in_all() -> None:
    evaluation = made(
        scenarios={"effect": [0.1, 0.2], "compliance": [1.0, 0.6], "confounding": [0, 0.2]}, n_trials=50
    )
    (figure,) = next(one for one in design_sections(evaluation) if one.name == "power").figures
    panels = figure.draw().axes
    assert [panel.get_title("left") for panel in panels] == ["confounding 0", "confounding 0.2"]
    for panel in panels:
        full, less, level = panel.get_lines()
        assert np.asarray(full.get_xdata()).tolist() == np.asarray(less.get_xdata()).tolist() == [0.0, 0.1, 0.2]
        assert np.asarray(level.get_ydata()).tolist() == [0.05, 0.05]


def test_of_very_many_scenarios_and_arms_figures_show_some_and_tables_all() -> None:
    grid = {"effect": [0.05, 0.1, 0.15], "compliance": [1.0, 0.8, 0.6, 0.4], "confounding": [0, 0.1, 0.2]}
    evaluation = made(made_design(10), scenarios=grid, n_trials=20)
    sections = {section.name: section for section in design_sections(evaluation)}
    assert len(evaluation.scenarios) == 50
    assert "6 of 50 scenarios; the tables have all." in sections["size"].figures[0].caption
    assert len(sections["size"].listings[0].rows) == 50
    assert sections["size"].listings[0].folded
    assert "10 arms" in sections["allocation"].figures[0].caption
    assert "and 10 more scenarios: --html or --json" in evaluation.summary()


def test_claims_in_the_wrong_direction_are_told_where_no_type_one_error_is_possible() -> None:
    people = ComplianceTypes("people", ("ward", "stroke unit"), [ComplianceType("complier", 1.0, reward=(0.4, 0.6))])
    evaluation = made(scenarios=people, n_trials=50)
    wrong = evaluation["people"].find("wrong_claim").estimate
    assert wrong is not None
    assert wrong.mean > 0.0
    text = " ".join(evaluation.summary().split())
    assert "50 trials in one scenario, seed 7" in text
    assert "No type I error is possible: in every scenario each arm that could be claimed to differ does" in text
    assert f"The largest probability of a claim in the wrong direction: {100 * wrong.mean:.1f}% [" in text
    assert f"{100 * wrong.mean:.1f}%</td>" in evaluation._repr_html_()
    sections = {section.name: section for section in design_sections(evaluation)}
    _, people_listing = sections["scenarios"].listings
    assert people_listing.rows == [["people", "complier", "100%", "ward, 0.4", "stroke unit, 0.6"]]


def test_scenarios_are_told_so_that_they_can_be_repeated() -> None:
    grid = {"baseline": 0.4, "effect": 0.1, "compliance": 0.8, "average_null": 0.15}
    (scenarios,) = [one for one in design_sections(made(scenarios=grid, n_trials=20)) if one.name == "scenarios"]
    assert _column(scenarios, "baseline") == ["0.4"] * 3
    assert _column(scenarios, "average null") == ["–", "±0.15", "–"]
    assert any(one.startswith("An outcome is 0 or 1") for one in scenarios.details)


def test_looks_and_sizes_have_labels_of_one_kind(one: Evaluation) -> None:
    sections = {section.name: section for section in design_sections(one)}
    panel = sections["conclusions"].figures[0].draw().axes[0]
    assert [label.get_text() for label in panel.get_xticklabels()][-1] == "end"  # outcomes may be missing then
    assert list(sections["conclusions"].listings[1].header) == ["scenario", "80", "160", "240", "320", "end"]
    sizes = np.zeros(401, dtype=np.int64)
    sizes[[276, 288, *range(300, 401)]] = 4
    first = one.results[0]
    many = replace(first, distributions=replace(first.distributions, sizes=sizes))
    figure = size_figure([many])
    assert figure is not None
    labels = [label.get_text() for label in figure.draw().axes[0].get_xticklabels()]
    assert labels
    assert all("–" in label for label in labels)


def test_designs_whose_errors_differ_are_not_compared_by_power_alone(several: Evaluation) -> None:
    alike = made(made_design(2, "a"), scenarios=SMALL, n_trials=20)
    assert "type I errors go from" not in alike.summary()
    errors = [
        max(one.mean for found in several.results[place::4] if (one := found.find("type_one").estimate))
        for place in range(4)
    ]
    said = f"The designs' largest type I errors go from {min(errors):.1%} to {max(errors):.1%}: a part of any"
    assert said in " ".join(several.summary().split())
    (side_by_side,) = [one for one in design_sections(several) if one.name == "differences"]
    assert side_by_side.details[0].startswith(said)


def test_design_that_stops_for_nothing_and_estimates_nothing_is_said_so() -> None:
    design = replace_fields(made_design(), stopping=None, looks=Looks(days=(100.0,)), estimands=())
    evaluation = made(design, scenarios={"effect": 0.1, "compliance": 1.0}, n_trials=20)
    text = evaluation.summary()
    assert text.count("No design has a stopping rule: its trials claim nothing.") == 1
    assert "No effects were estimated." in text
    assert "no look decides anything" in text.replace("\n", " ")
    assert "What trials end with" not in text  # a table without numbers
    names = [section.name for section in design_sections(evaluation)]
    assert "estimates" not in names
    assert "conclusions" not in names
    assert "size" in names


def test_notebooks_show_a_table(several: Evaluation) -> None:
    html = several._repr_html_()
    assert html.count("<tr>") == 1 + len(several)
    assert "4 designs side by side" in html


def test_several_baselines_have_a_column_and_panels_of_their_own() -> None:
    grid = {"baseline": [0.3, 0.5], "effect": [0.2], "compliance": [1.0, 0.6]}
    found = made(made_design(2), scenarios=grid, n_trials=50)
    header = next(line.split() for line in found.summary().split("\n") if "comply" in line)
    assert header[:3] == ["scenario", "comply", "baseline"]
    figure = power_figure(found)
    assert figure is not None
    assert "baseline 0.3 100% comply at 0.2: " in figure.alternative
    assert "baseline 0.5 60% comply at 0: " in figure.alternative


@pytest.mark.parametrize("policy", ["uniform", "burn-in(uniform, patients=400, block=4)"])
def test_page_of_a_randomised_design_recommends_nothing_and_draws_no_flat_lines(policy: str) -> None:
    found = made(made_design(2, "1:1", policy), scenarios=SMALL, n_trials=50)
    page = Reader(found.to_html())
    text = " ".join(
        text for tag in ("h1", "h2", "p", "li", "td", "th", "figcaption", "dt", "dd") for text in page.texts(tag)
    )
    for words in (text, found.summary(), found._repr_html_()):
        assert "recommend" not in words.lower()
    assert "randomised to ward or stroke unit" in text
    assert "assigned a worse arm" in found.summary()
    assert len(page.attributes("img")) == 6  # all but the allocation
    assert "if assigned ward" in text


def test_arms_that_may_be_dropped_have_their_shares_drawn() -> None:
    design = replace_fields(made_design(3, "1:1:1", "uniform"), stopping=Stopping("z-test", superiority=2.0))
    names = [
        one.name
        for section in design_sections(made(design, scenarios=SMALL, n_trials=50))
        for one in section.all_figures()
    ]
    assert "allocation" in names
    assert (
        "recommend"
        in made(
            replace_fields(design, arms=("recommended", *design.arms[1:]), control=None), scenarios=SMALL, n_trials=50
        ).summary()
    )
