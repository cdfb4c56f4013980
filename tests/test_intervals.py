"""Every interval of `adhere.intervals` against SciPy, with 1 to 10¹⁰ patients or degrees of freedom."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from adhere.intervals import (
    RewardSums,
    mean_interval,
    normal_quantile,
    student_quantile,
    t95,
    wilson,
)

DECADES = tuple(10**power for power in range(11))
LEVELS = (0.0, 0.1, 0.5, 0.8, 0.95, 0.99, 0.999, 1.0 - 1e-6, 1.0 - 1e-10)
FREEDOMS = (0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 29.0, *(float(f"{one}.7") for one in DECADES), *DECADES)


@pytest.mark.parametrize("level", LEVELS)
def test_student_quantile(level: float) -> None:
    found = [student_quantile(freedom, level) for freedom in FREEDOMS]
    np.testing.assert_allclose(found, stats.t.isf((1.0 - level) / 2.0, FREEDOMS), rtol=1e-9, atol=1e-12)


def test_student_quantile_of_many_degrees_of_freedom_is_the_normal_one() -> None:
    assert [round(t95(10.0**power), 6) for power in (7, 8, 10, 15, 300)] == [1.959964] * 5
    assert t95(math.inf) == pytest.approx(normal_quantile(0.95))


def test_student_quantile_falls_with_the_degrees_of_freedom() -> None:
    found = [student_quantile(freedom, 0.95) for freedom in np.geomspace(1.0, 1e10, 201).tolist()]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("level", LEVELS)
def test_normal_quantile(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(stats.norm.isf((1.0 - level) / 2.0), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("n", DECADES)
def test_wilson(n: int, level: float) -> None:
    for successes in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        exact = stats.binomtest(successes, n).proportion_ci(level, "wilson")
        assert wilson(successes, n, level) == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("n", DECADES[1:])
def test_mean_interval_and_that_of_summed_rewards(n: int) -> None:
    sums = RewardSums()
    sums.add(0.25, n // 2)
    sums.add(0.5, n - n // 2)
    variance = 0.25**2 * (n // 2) * (n - n // 2) / n / (n - 1)
    exact = stats.t.interval(0.95, n - 1, sums.total / n, math.sqrt(variance / n))
    assert mean_interval(sums.total / n, variance, n) == pytest.approx(exact, rel=1e-12)
    assert sums.estimate()[1:] == pytest.approx(exact, rel=1e-12)


def test_one_outcome_says_nothing_about_the_mean() -> None:
    assert mean_interval(0.5, 0.0, 1) == (0.0, 1.0)
