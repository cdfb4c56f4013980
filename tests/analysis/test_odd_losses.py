"""Records of which odd parts are lost: sentences are true as read, and outcomes that are alike are not certain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adhere.analysis.analyse import analyse_records
from adhere.analysis.analysis import Analysis
from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.missing_outcomes.latent_ignorability import latent_effect
from adhere.analysis.output.notes import notes_of
from adhere.analysis.output.page import analysis_sections
from adhere.analysis.output.tables import compliance_table, strata_table
from adhere.analysis.records import NOT_KNOWN

from .made_records import MISSING, Row, made
from .test_loss_by_stratum import lossy

CONTROL: list[Row] = [(0, 0, 1.0, 40), (0, 0, 0.0, 35), (0, 1, 1.0, 6), (0, 1, 0.0, 6), (0, 0, MISSING, 9)]
ARM_MISSING: list[Row] = [*CONTROL, (1, 1, MISSING, 85), (1, 0, MISSING, 14)]
CELL_MISSING: list[Row] = [*CONTROL, (1, 1, 1.0, 50), (1, 1, 0.0, 29), (1, 1, MISSING, 10), (1, 0, MISSING, 14)]
ALL_ONE: list[Row] = [(0, 0, 1.0, 60), (0, 1, 1.0, 6), (0, 0, MISSING, 9), (1, 1, 1.0, 50), (1, 0, 1.0, 8),
                      (1, 1, MISSING, 10)]  # fmt: skip
DEFIERS: list[Row] = [(0, 1, 1.0, 41), (0, 1, 0.0, 49), (0, 1, MISSING, 14), (1, 0, 1.0, 52), (1, 0, 0.0, 34),
                      (1, 0, MISSING, 10)]  # fmt: skip


def said(analysis: Analysis) -> str:
    return " ".join((*analysis.verdict, *analysis.warnings))


def noted(rows: list[Row]) -> str:
    return " ".join(notes_of(analyse_records(made(rows))))


def test_an_arm_without_outcomes_is_not_said_to_lack_reports_of_what_was_taken() -> None:
    nobody: list[Row] = [(0, 0, MISSING, 90), (0, 1, MISSING, 10), (1, 1, MISSING, 85), (1, 0, MISSING, 15)]
    for rows in (ARM_MISSING, nobody):
        assert "neither what they took nor" not in noted(rows)
        assert "each counts as the mean" not in noted(rows)
        by_assignment, *_ = effects(made(rows)).comparisons
        assert by_assignment.at_random
        assert by_assignment.difference.reason == "no outcome is known of patients assigned new"


def test_latent_ignorability_is_not_certain_where_all_known_outcomes_are_alike() -> None:
    few = latent_effect(cells_of(made(ALL_ONE)), 1, 0).sets[0]
    assert few.low < -0.02 < 0.02 < few.high
    many = latent_effect(cells_of(made([(*row[:3], 100 * row[3]) for row in ALL_ONE])), 1, 0).sets[0]
    assert few.low < many.low < 0.0 < many.high < few.high
    one_side: list[Row] = [*ALL_ONE, (0, 0, 0.0, 30)]
    found = latent_effect(cells_of(made(one_side)), 1, 0)
    assert found.sets[0].high - found.sets[0].low > 0.2


@pytest.mark.parametrize("n_compliers", [20, 60])
def test_latent_ignorability_stays_within_the_possible_effects(n_compliers: int) -> None:
    rows: list[Row] = [(0, 0, 0.0, n_compliers), (0, 1, 1.0, 30), (0, 0, 1.0, 30), (0, 0, MISSING, 5)]
    rows += [(1, 1, 1.0, n_compliers + 29), (1, 1, 0.0, 1), (1, 0, 1.0, 30), (1, 1, MISSING, 5)]
    found = latent_effect(cells_of(made(rows)), 1, 0)
    assert found.sets
    assert all(-1.0 <= one.low < one.high <= 1.0 for one in found.sets)


def test_compliers_are_no_surer_than_intention_to_treat_where_all_known_outcomes_are_alike() -> None:
    found = {one.view: one.difference.sets[0] for one in effects(made(ALL_ONE)).comparisons}
    by_assignment, compliers = found[View.INTENTION_TO_TREAT], found[View.COMPLIERS]
    assert compliers.high - compliers.low > by_assignment.high - by_assignment.low


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (DEFIERS, "no more of those assigned new than of those assigned old report an outcome having taken new"),
        (ARM_MISSING, "nobody assigned new has both a known outcome and a report of what was taken"),
        ([(0, NOT_KNOWN, 1.0, 50), (0, NOT_KNOWN, MISSING, 9), (1, NOT_KNOWN, 0.0, 50)],
         "nobody assigned new has both a known outcome and a report of what was taken"),
    ],
)  # fmt: skip
def test_latent_ignorability_gives_the_true_reason(rows: list[Row], reason: str) -> None:
    assert latent_effect(cells_of(made(rows)), 1, 0).reason.startswith(reason)


def test_every_reason_names_its_subject() -> None:
    notes = noted(DEFIERS)
    assert "No outcome is known." not in notes
    assert "No outcome is known of patients who were assigned new and took it." in notes
    # Loss alone makes complete cases lack compliers; of all patients there are some.
    weak: list[Row] = [(0, 0, 1.0, 50), (0, 1, 1.0, 50), (1, 1, 1.0, 49), (1, 1, MISSING, 30), (1, 0, 0.0, 50)]
    assert "Complete cases: 49.5% of those assigned new took it" in noted(weak)


def test_without_an_estimate_nothing_is_said_of_its_interval_or_of_what_stands_beside_it() -> None:
    for rows in (CELL_MISSING, ARM_MISSING):
        found = analyse_records(made(rows))
        assert "Its interval holds" not in said(found)
        assert "tipping points" not in said(found)
        assert "Intention-to-treat and compliers take them" not in said(found)
        assert "ntention-to-treat and compliers allow for it" not in said(found)
        assert "By this view there is no estimate here: " in said(found)
        assert "Worst-case bounds are limits on this effect" in said(found)
        assert "count as the mean over" not in " ".join(notes_of(found))
    declared = analyse_records(made(CELL_MISSING), fixed_allocation=True)
    assert "interval holds" not in said(declared)


def test_with_an_estimate_all_of_it_is_said() -> None:
    found = analyse_records(made([*CONTROL, (1, 1, 1.0, 50), (1, 1, 0.0, 39), (1, 0, 1.0, 9), (1, 0, MISSING, 5)]))
    assert "Its interval holds if the probabilities" in said(found)
    assert "Complete cases, worst-case bounds and tipping points beside it say what depends on that." in said(found)
    assert "Intention-to-treat and compliers take them to be missing at random" in said(found)
    assert "the worst-case bounds say how far they could move an effect" in said(found)


def test_an_interval_that_is_approximate_is_not_said_to_hold() -> None:
    few: list[Row] = [*CONTROL, (1, 1, 1.0, 50), (1, 1, 0.0, 39), (1, 0, MISSING, 3)]
    found = analyse_records(made(few))
    assert "Its interval is approximate (the notes say why), and assumes that the probabilities" in said(found)
    assert "interval holds" not in said(found)
    declared = analyse_records(made(few), fixed_allocation=True)
    assert "its interval is approximate (the notes say why)" in said(declared)
    some = analyse_records(made([*few, (2, 2, 1.0, 50), (2, 2, 0.0, 40)], ("old", "new", "third")))
    assert "Its interval holds if" in said(some)
    assert "That of new is approximate (the notes say why)." in said(some)


def test_loss_is_compared_within_strata_where_the_allocation_depends_on_them() -> None:
    alike = analyse_records(lossy())
    assert alike.mixes_strata
    assert "Loss that differs between arms" not in said(alike)
    assert "strata mixed" in compliance_table(alike).caption
    rows: list[Row] = [(0, 0, 1.0, 70), (0, 0, 0.0, 230), (1, 1, 1.0, 20), (1, 1, 0.0, 40), (1, 1, MISSING, 40)]
    rows += [(0, 0, 1.0, 40), (0, 0, 0.0, 60), (1, 1, 1.0, 100), (1, 1, 0.0, 80), (1, 1, MISSING, 120)]
    differs = analyse_records(made(rows, stratum=np.repeat([0, 1], 5), strata=("a", "b")))
    assert (
        "Outcomes are missing for 40% of those assigned new, and for 0% of those assigned old (strata weighted by "
        "their patients)."
    ) in said(differs)


def test_strata_that_lack_an_arm_are_said_not_to_count() -> None:
    rows: list[Row] = [(0, 0, 1.0, 20), (0, 0, 0.0, 20), (1, 1, 1.0, 30), (1, 1, 0.0, 19), (1, 1, 1.0, 60)]
    rows += [(1, 1, 0.0, 51)]
    found = analyse_records(made(rows, stratum=np.array([0, 0, 0, 0, 1, 1]), strata=("a", "b")))
    assert found.mixes_strata
    assert (
        "In them each stratum counts by its number of patients, except that the stratified effects leave out strata "
        "that lack one of the arms compared (111 of 200 patients are in such strata)."
    ) in said(found)
    assert "leave out strata" not in said(analyse_records(lossy()))


def test_marks_stand_only_where_something_is_missing_and_known() -> None:
    found = analyse_records(made(CELL_MISSING))
    assert "if missing at random" not in compliance_table(found).caption
    assert not [row for row in strata_table(found).rows if row[-1].startswith("–,")]
    lacking = analyse_records(made([*CELL_MISSING, (1, NOT_KNOWN, 1.0, 9)]))
    assert "if missing at random" in compliance_table(lacking).caption


def test_no_warning_points_to_rows_that_are_withheld() -> None:
    records = replace(lossy(), count=None)
    assert records.probabilities is not None
    drift = 0.05 * np.sin(np.arange(len(records)))[:, None] * np.array([1.0, -1.0])
    found = analyse_records(replace(records, probabilities=records.probabilities + drift))
    assert found.adaptive
    assert found.mixes_strata
    assert not found.missing.extremes
    page = " ".join(one.uncertainty for one in analysis_sections(found) if one.name == "effects")
    for text in (said(found), page):
        assert "orst-case bounds" not in text
        assert "missing at random" not in text
    assert "Any-time valid sets take them at their worst case." in said(found)


def test_a_cell_that_borrows_its_mean_never_makes_a_variance_negative() -> None:
    rows: list[Row] = [(1, 1, MISSING, 1), (1, 0, 0.0, 150), (0, 0, 0.0, 1), (0, 0, 0.0, 2)]
    found = effects(made(rows, stratum=np.array([0, 1, 0, 1]), strata=("a", "b")))
    assert found.comparisons
