"""Records of which odd parts are lost: sentences are true as read, and outcomes that are alike are not certain."""

from __future__ import annotations

import pytest

from adhere.analysis.analyse import analyse_records
from adhere.analysis.analysis import Analysis
from adhere.analysis.cells import cells_of
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.missing_outcomes.latent_ignorability import latent_effect
from adhere.analysis.output.notes import notes_of
from adhere.analysis.records import NOT_KNOWN
from adhere.analysis.view import View

from .made_records import MISSING, Row, made

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
        (ARM_MISSING, "of nobody assigned new both what was taken and the outcome are known"),
        ([(0, NOT_KNOWN, 1.0, 50), (0, NOT_KNOWN, MISSING, 9), (1, NOT_KNOWN, 0.0, 50)],
         "of nobody assigned new both what was taken and the outcome are known"),
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
