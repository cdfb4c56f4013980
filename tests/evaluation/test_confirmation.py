"""Clopper and Pearson's limits against SciPy's."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from adhere.evaluation.search.confirmed_number import clopper_pearson


@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (1, 1), (0, 500), (500, 500), (1, 7), (450, 10_000), (9_990, 10_000), (3, 10**6)]
)
@pytest.mark.parametrize("level", [0.95, 0.998])
def test_limits_are_those_of_scipy(successes: int, n: int, level: float) -> None:
    expected = binomtest(successes, n).proportion_ci(level, "exact")
    assert clopper_pearson(successes, n, level) == pytest.approx((expected.low, expected.high), abs=2e-9)
