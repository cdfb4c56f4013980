"""Rows of numbers against a plain measure of the same trials, patient by patient."""

from __future__ import annotations

import random

import numpy as np
import pytest

from adhere.design.design import Design
from adhere.evaluation.characteristics.measure import claims, measure_rows, most_cut
from adhere.evaluation.characteristics.naive_estimates import _student
from adhere.evaluation.outcomes import Columns, Floats, TrialOutcomes
from adhere.evaluation.scenarios.scenario import Truth
from adhere.intervals import student_quantile
from adhere.looks.judge import ACTIVE, EQUIVALENT, INFERIOR, SUPERIOR
from adhere.simulation.execution.accumulate import some_runs
from evaluation.made_trials import as_outcomes, made_trial
from evaluation.plain_measure import PlainMeasure

GRID, N_LOOKS = (2, 5, 11, 30), 4
NAN = float("nan")


@pytest.mark.parametrize(
    ("means", "if_taken", "complier_effects", "control"),
    [
        ([0.5, 0.6], [0.4, 0.7], [NAN, 0.2], 0),
        ([0.5, 0.5], [0.4, 0.4], [NAN, 0.0], None),
        ([0.6, 0.5], [0.4, 0.7], [-0.1, NAN], 1),
        ([0.5, 0.4, 0.5], [0.3, 0.5, 0.5], [NAN, 0.1, NAN], None),
        ([0.5, 0.4, 0.6], [0.6, 0.5, 0.5], [0.2, NAN, 0.3], 1),
        ([0.3, 0.4, 0.6], [0.6, 0.5, 0.5], [NAN, 0.1, 0.3], None),
    ],
)
def test_rows_are_those_of_a_plain_measure(
    means: list[float], if_taken: list[float], complier_effects: list[float], control: int | None
) -> None:
    draw, k = random.Random(len(means) + sum(means)), len(means)
    trials = [made_trial(draw, k, control, N_LOOKS, 30) for _ in range(40)]
    truth = Truth(np.array(means), np.array(if_taken), np.array(complier_effects), control, None, varies=False)
    columns = Columns(k, GRID, N_LOOKS)
    rows = measure_rows(as_outcomes(trials, k, GRID), truth, columns)
    assert rows.shape == (40, columns.n_columns)
    assert not np.isnan(rows).any()
    for trial, row in zip(trials, rows, strict=True):
        plain = PlainMeasure(
            trial,
            means=means,
            if_taken=if_taken,
            complier_effects=complier_effects,
            control=control,
            grid=GRID,
            n_looks=N_LOOKS,
        )
        for part in columns.parts:
            wanted = plain.n_looks_made() if part == "n_looks" else getattr(plain, part)()
            found = row[columns.part(part)].reshape(columns.shape(part))
            np.testing.assert_allclose(found, wanted, atol=1e-9, err_msg=part)


def test_a_population_drawn_anew_for_each_trial_has_its_own_truth_there() -> None:
    """Rows measured together with means by trial are those measured one by one with that truth."""
    draw = random.Random(3)
    outcomes = as_outcomes([made_trial(draw, 2, 0, N_LOOKS, 30) for _ in range(20)], 2, GRID)
    means = np.random.default_rng(1).uniform(size=(20, 2))
    unknown = np.full(2, np.nan)
    columns = Columns(2, GRID, N_LOOKS)
    together = measure_rows(outcomes, Truth(means.mean(axis=0), unknown, unknown, 0, None, True), columns, means)
    one_by_one = [
        measure_rows(some_runs(outcomes, slice(run, run + 1)), Truth(own, unknown, unknown, 0, None, False), columns)[
            0
        ]
        for run, own in enumerate(means)
    ]
    np.testing.assert_allclose(together, one_by_one, atol=1e-9)


def test_claims_without_a_control_are_of_the_one_best_arm() -> None:
    status = np.array([[SUPERIOR, ACTIVE, ACTIVE], [ACTIVE, SUPERIOR, INFERIOR], [EQUIVALENT] * 3])
    tied: Floats = np.array([[0.5, 0.5, 0.4]])
    made = claims(status, tied, None)
    assert made.false.tolist() == [[True, False, False], [False, True, False], [False] * 3]
    assert not made.right.any()
    assert not made.wrong.any()
    made = claims(status, np.array([[0.6, 0.5, 0.4]]), None)
    assert made.right.tolist() == [[True, False, False], [False] * 3, [False] * 3]
    assert made.wrong.tolist() == [[False] * 3, [False, True, False], [False] * 3]


def test_quantiles_of_student_are_interpolated_closely() -> None:
    freedom = np.array([1.0, 1.3, 2.0, 3.7, 8.2, 31.0, 240.5, 1e6])
    exact = [student_quantile(one, 0.95) for one in freedom.tolist()]
    np.testing.assert_allclose(_student(freedom), exact, rtol=1e-3)


def test_a_block_that_was_cut_does_not_make_a_trial_worse_than_randomisation() -> None:
    """In blocks of 4 an arm may be 2 patients ahead of the other when the trial ends, and not 3."""
    columns = Columns(2, (2,), 1)
    outcomes = TrialOutcomes.zeros(4, 2, 1)
    outcomes.chosen[:] = [[10, 10], [12, 10], [13, 10], [10, 13]]
    outcomes.n_patients[:] = outcomes.chosen.sum(axis=1)
    means = np.array([0.3, 0.6])
    rows = measure_rows(outcomes, Truth(means, means, means, 0, None, varies=False), columns, None, n_cut=2.0)
    assert rows[:, columns.where("worse_than_randomisation")].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert rows[:, columns.where("surplus")] == pytest.approx([0.0, -0.3, -0.45, 0.45])


@pytest.mark.parametrize(
    ("policy", "strata", "expected"),
    [
        ("thompson", (), 0.0),
        ("burn-in(uniform, block=4)", (), 2.0),
        ("burn-in(thompson)", (), 4.0),
        ("burn-in(thompson)", ("young", "old", "very old"), 12.0),
    ],
)
def test_most_patients_that_the_end_of_a_trial_cuts_from_blocks(
    policy: str, strata: tuple[str, ...], expected: float
) -> None:
    assert most_cut(Design("a", policy, ("x", "y"), 90, strata=strata)) == expected
