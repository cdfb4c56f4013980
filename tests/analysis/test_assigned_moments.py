from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import View
from adhere.analysis.fixed_sample.assigned_moments import OUTCOME, TAKEN, TREATED, UNTREATED, Assigned, Weights
from adhere.analysis.fixed_sample.compliers import assigned_pair
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.missing_at_random import completed
from adhere.analysis.fixed_sample.principal_strata import principal_strata
from adhere.analysis.records import Floats

from .made_records import MISSING, made

EVERY: list[Weights] = [OUTCOME, TAKEN, TREATED, UNTREATED, (1.0, -0.3, 0.5)]
# Of those assigned the treatment who did not take it, 800 of 1,000 have no outcome, and nobody else.
MISSING_AMONG_NEVER_TAKERS = [
    *((1, 1, 0.0, 300), (1, 1, 1.0, 700), (1, 0, MISSING, 800), (1, 0, 0.0, 140), (1, 0, 1.0, 60)),
    *((0, 0, 0.0, 1000), (0, 0, 1.0, 1000)),
]


def assigned(taken: Floats, y: Floats, known: Floats) -> Assigned:
    outcome = np.where(known == 1.0, y, MISSING)
    records = made([(1, int(took), float(one), 1) for took, one in zip(taken, outcome, strict=True)])
    return assigned_pair(completed(cells_of(records)), 1, 0).treatment


def patients(n: int, share_known: float, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    taken = (rng.random(n) < 0.4).astype(float)
    y = np.clip(0.3 + 0.3 * taken + 0.2 * rng.standard_normal(n), 0.0, 1.0)
    return taken, y, (rng.random(n) < np.where(taken == 1.0, share_known, 1.0)).astype(float)


def test_where_nothing_is_missing_moments_are_those_of_the_patients() -> None:
    taken, y, known = patients(200, 1.0)
    variables = np.array([y, taken, y * taken])
    found = assigned(taken, y, known)
    for first, second in product(EVERY, repeat=2):
        values = np.array([first, second]) @ variables
        assert found.mean(first) == pytest.approx(values[0].mean(), abs=1e-12)
        assert found.covariance(first, second) == pytest.approx(np.cov(values, bias=True)[0, 1], abs=1e-12)


def test_where_outcomes_are_missing_variances_are_those_of_the_influence_of_each_patient() -> None:
    taken, y, known = patients(4000, 0.3)
    found = assigned(taken, y, known)
    means, weight = np.empty(4000), np.empty(4000)
    for took in (0.0, 1.0):
        group = taken == took
        means[group] = y[group & (known == 1.0)].mean()
        weight[group] = group.sum() / (group & (known == 1.0)).sum()
    filled = np.array([means, taken, means * taken])
    error = np.where(known == 1.0, weight * (y - means), 0.0)
    for first, second in product(EVERY, repeat=2):
        influence = [
            np.array(one) @ (filled - filled.mean(axis=1, keepdims=True)) + (one[0] + one[2] * taken) * error
            for one in (first, second)
        ]
        assert found.mean(first) == pytest.approx((np.array(first) @ filled).mean(), abs=1e-12)
        covariance = found.covariance(first, second) + found.n * found.lost_covariance(first, second)
        assert covariance == pytest.approx(np.mean(influence[0] * influence[1]), rel=2e-2)


@pytest.mark.parametrize("adaptive", [False, True])
def test_shares_means_and_effect_are_of_the_same_patients(adaptive: bool) -> None:
    """Half take it, with means of 0.7 and 0.3: 0.5, as of those assigned the control."""
    records = made(MISSING_AMONG_NEVER_TAKERS)
    compliers = next(one for one in effects(records).comparisons if one.view is View.COMPLIERS)
    strata = principal_strata(records, adaptive=adaptive)
    values = {name: one.value for name, one in {**strata.shares, **strata.means}.items() if one.value is not None}
    assert values["compliers"] == pytest.approx(0.5)
    assert values["compliers, treated"] == pytest.approx(0.7)
    assert values["compliers, untreated"] == pytest.approx(0.7)
    assert compliers.difference.value == pytest.approx(0.0, abs=1e-12)
    assert 0.7 in strata.means["compliers, untreated"].sets[0]
    assert "800 of 4000 outcomes are missing: each counts as the mean of the known ones" in compliers.note
    # A complete trial of as many is surer.
    complete = made(
        [(1, 0, 0.0, 560), (1, 0, 1.0, 240), *(row for row in MISSING_AMONG_NEVER_TAKERS if row[3] != 800)]
    )
    whole = next(one for one in effects(complete).comparisons if one.view is View.COMPLIERS)
    widths = [one.difference.sets[0].high - one.difference.sets[0].low for one in (compliers, whole)]
    assert 1.1 * widths[1] < widths[0] < 1.6 * widths[1]


def test_a_group_without_any_outcome_leaves_no_effect() -> None:
    rows = [row for row in MISSING_AMONG_NEVER_TAKERS if row[:2] != (1, 0) or row[3] == 800]
    compliers = next(one for one in effects(made(rows)).comparisons if one.view is View.COMPLIERS)
    assert compliers.difference.value is None
    assert compliers.difference.reason.startswith("no outcome is known for those who were assigned one arm")
    assert principal_strata(made(rows)).means["compliers, untreated"].value is None
    assert principal_strata(made(rows)).means["compliers, treated"].value == pytest.approx(0.7)
