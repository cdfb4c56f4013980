from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import Comparison, Validity, View
from adhere.analysis.fixed_sample.assigned_moments import OUTCOME, TAKEN, stratified_pair
from adhere.analysis.fixed_sample.compliers import assigned_pair
from adhere.analysis.fixed_sample.effects import Effects, effects
from adhere.analysis.fixed_sample.missing_at_random import completed
from adhere.analysis.fixed_sample.two_arms import compare_groups
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, Records
from oracle.missing_outcomes import (
    Patient,
    complier_effect,
    difference,
    share_taking,
    stratified_difference,
    value,
    variance,
)

from .made_records import MISSING, Row, made
from .trials_with_loss import BY_STRATUM, BY_TAKEN, Trial

PLAIN: list[Row] = [
    *((0, 0, 1.0, 300), (0, 0, 0.0, 400), (0, 1, 1.0, 150), (0, 1, 0.0, 50)),
    *((1, 1, 1.0, 400), (1, 1, 0.0, 200), (1, 0, 1.0, 100), (1, 0, 0.0, 250)),
]
# Whoever did not take what they were assigned is lost more often; of some it is not known what they took.
LOSSES: list[Row] = [
    *((0, 0, MISSING, 60), (0, 1, MISSING, 90), (0, NOT_KNOWN, 1.0, 40), (0, NOT_KNOWN, MISSING, 30)),
    *((1, 1, MISSING, 50), (1, 0, MISSING, 400), (1, NOT_KNOWN, 0.0, 30), (1, NOT_KNOWN, 1.0, 20)),
]


def with_strata(rows: list[Row]) -> tuple[Records, list[Patient]]:
    """Rows in two strata, the second with other numbers, as records and as the oracle has them."""
    every: list[Row] = [
        *rows,
        *((z, d, y, 7 + int(count * (0.3 + 0.1 * z + 0.2 * (y == 1.0)))) for z, d, y, count in rows),
    ]
    stratum = np.repeat([0, 1], len(rows))
    patients = [
        Patient(z, None if d == NOT_KNOWN else d, None if y != y else y, count, int(s))
        for (z, d, y, count), s in zip(every, stratum, strict=True)
    ]
    return made(every, strata=("north", "south"), stratum=stratum), patients


def found_of(found: Effects, view: View, *, stratified: bool = False) -> Comparison:
    return next(one for one in found.comparisons if one.view is view and one.stratified is stratified)


def oracle_patients(rows: list[Row]) -> list[Patient]:
    return [Patient(z, None if d == NOT_KNOWN else d, None if y != y else y, count) for z, d, y, count in rows]


def test_estimates_are_those_of_the_oracle() -> None:
    rows = [*PLAIN, *LOSSES]
    found, patients = effects(made(rows)), oracle_patients(rows)
    assert found_of(found, View.INTENTION_TO_TREAT).difference.value == pytest.approx(value(patients, difference))
    assert found_of(found, View.COMPLIERS).difference.value == pytest.approx(value(patients, complier_effect))


def test_estimates_given_the_stratum_are_those_of_the_oracle() -> None:
    records, patients = with_strata([*PLAIN, *LOSSES])
    found = effects(records)
    by_stratum = found_of(found, View.INTENTION_TO_TREAT, stratified=True)
    assert by_stratum.difference.value == pytest.approx(value(patients, stratified_difference))
    assert found_of(found, View.INTENTION_TO_TREAT).difference.value == pytest.approx(value(patients, difference))
    assert found_of(found, View.COMPLIERS).difference.value == pytest.approx(value(patients, complier_effect))


def test_variances_are_those_of_the_oracle() -> None:
    records, patients = with_strata([*PLAIN, *LOSSES])
    filled = completed(cells_of(records))
    pair, strata = assigned_pair(filled, 1, 0), stratified_pair(filled, 1, 0)
    assert pair.variance(OUTCOME) == pytest.approx(variance(patients, difference), rel=0.01)
    assert strata.variance(OUTCOME) == pytest.approx(variance(patients, stratified_difference), rel=0.02)
    took = [variance(patients, partial(share_taking, arm=arm)) for arm in (0, 1)]
    assert pair.variance(TAKEN) == pytest.approx(sum(took), rel=0.01)
    theta = value(patients, complier_effect)
    residual = pair.variance((1.0, -theta, 0.0)) / pair.contrast(TAKEN) ** 2
    assert residual == pytest.approx(variance(patients, complier_effect), rel=0.01)
    # The score interval counts each arm as the patients that its known outcomes are worth.
    interval = found_of(effects(records), View.INTENTION_TO_TREAT).difference.sets[0]
    wide = 2 * 1.96 * np.sqrt(variance(patients, difference))
    assert interval.high - interval.low == pytest.approx(wide, rel=0.02)
    stratified = found_of(effects(records), View.INTENTION_TO_TREAT, stratified=True).difference.sets[0]
    wide = 2 * 1.96 * np.sqrt(variance(patients, stratified_difference))
    assert stratified.high - stratified.low == pytest.approx(wide, rel=0.02)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_where_nothing_is_missing_nothing_changes(scale: float) -> None:
    rows: list[Row] = [(z, d, y * scale, count) for z, d, y, count in PLAIN]
    records, _ = with_strata(rows)
    plain = cells_of(made(rows)).by_chosen()
    found = found_of(effects(made(rows)), View.INTENTION_TO_TREAT)
    assert found.difference == compare_groups(plain[1], plain[0]).difference
    assert not found.at_random
    assert "missing" not in found.note
    filled = completed(cells_of(records))
    assert filled.cells is filled.known
    assert not stratified_pair(filled, 1, 0).lost.any()


def test_losing_outcomes_widens_the_interval_little_by_little() -> None:
    widths = []
    for n_lost in (0, 1, 10, 100, 300):
        kept = [(z, d, y, count - n_lost * ((z, d) == (1, 1)) // 2) for z, d, y, count in PLAIN]
        found = effects(made([*kept, (1, 1, MISSING, 2 * (n_lost // 2))]))
        interval = found_of(found, View.INTENTION_TO_TREAT).difference.sets[0]
        widths.append(interval.high - interval.low)
    assert widths == sorted(widths)
    assert widths[1] == pytest.approx(widths[0], rel=1e-3)


def test_an_empty_cell_borrows_the_mean_of_the_next_wider_one_and_says_so() -> None:
    rows: list[Row] = [
        *((0, 0, 1.0, 20), (0, 0, 0.0, 20), (1, 1, 1.0, 20), (1, 1, 0.0, 20), (1, 0, 1.0, 3), (1, 0, 0.0, 9)),
        *((0, 0, 1.0, 20), (0, 0, 0.0, 20), (1, 1, 1.0, 20), (1, 1, 0.0, 20), (1, 0, MISSING, 10)),
    ]
    stratum = np.array([0] * 6 + [1] * 5)
    found = effects(made(rows, strata=("north", "south"), stratum=stratum))
    one = found_of(found, View.INTENTION_TO_TREAT)
    assert one.difference.value == pytest.approx((40 + 3 + 2.5) / 102 - 0.5)
    assert one.difference.sets[0].validity is Validity.APPROXIMATE
    assert "For 10 of these patients no such outcome is known" in one.note
    assert found_of(found, View.COMPLIERS).difference.sets[0].validity is Validity.APPROXIMATE


def test_no_mean_where_no_outcome_is_known_after_what_many_took() -> None:
    rows: list[Row] = [*PLAIN, (1, TOOK_NOTHING, MISSING, 200)]
    found = effects(made(rows))
    for view in (View.INTENTION_TO_TREAT, View.COMPLIERS):
        one = found_of(found, view)
        assert one.difference.value is None
        assert "for 200 assigned new (17%) no outcome of anybody who took the same is known" in one.difference.reason
    few = found_of(effects(made([*PLAIN, (1, TOOK_NOTHING, MISSING, 3)])), View.INTENTION_TO_TREAT)
    assert few.difference.sets[0].validity is Validity.APPROXIMATE


def test_whoever_reported_nothing_is_like_the_others_of_the_arm() -> None:
    plain, lost = effects(made(PLAIN)), effects(made([*PLAIN, (1, NOT_KNOWN, MISSING, 500)]))
    for view in (View.INTENTION_TO_TREAT, View.COMPLIERS):
        one = found_of(lost, view)
        assert one.difference == found_of(plain, view).difference
        assert one.at_random
        assert "Leaves out 500 patients for whom neither what they took nor the outcome is known" in one.note


def covered(trial: Trial, n_trials: int, seed: int) -> dict[tuple[View, bool], float]:
    """The share of the sets of both views, not marked approximate, that contain the truth."""
    hits: dict[tuple[View, bool], list[bool]] = {}
    for records in trial.draw(n_trials, seed):
        for one in effects(records).comparisons:
            truth = {View.INTENTION_TO_TREAT: trial.intention_to_treat, View.COMPLIERS: trial.compliers}.get(one.view)
            for found in one.difference.sets[:1]:
                if truth is not None and found.validity is Validity.FIXED:
                    hits.setdefault((one.view, one.stratified), []).append(truth in found)
    return {key: sum(found) / len(found) for key, found in hits.items()}


def test_sets_cover_where_loss_depends_on_what_was_taken() -> None:
    """Complete cases cover intention-to-treat in 80% of these trials."""
    assert all(share > 0.93 - 3 * np.sqrt(0.95 * 0.05 / 300) for share in covered(BY_TAKEN, 300, 1).values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "trial",
    [
        BY_TAKEN,
        replace(BY_TAKEN, n=50),
        replace(BY_TAKEN, lost=(((0.1, 0.05), (0.9, 0.05)),)),
        BY_STRATUM,
        replace(BY_STRATUM, n=60),
        Trial(
            shares=((0.3, 0.5, 0.2),),
            means=(((0.02, 0.02), (0.03, 0.02), (0.01, 0.04)),),
            lost=(((0.1, 0.05), (0.6, 0.05)),),
        ),
    ],
    ids=["by taken", "few patients", "nearly all lost", "by stratum", "few in strata", "rare outcomes"],
)
def test_sets_cover_in_many_trials(trial: Trial) -> None:
    error = np.sqrt(0.95 * 0.05 / 2000)
    for key, share in covered(trial, 2000, 7).items():
        assert share > 0.93 - 2 * error, key
