"""Limits on the probabilities of cells, against exact computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binomtest

from adhere.analysis.bounding.observed_cells import cell_limits


@pytest.mark.parametrize("successes", [0, 3, 20])
def test_fixed_limits_are_clopper_and_pearsons(successes: int) -> None:
    low, high = cell_limits(np.array([float(successes)]), np.array([20.0]), 0.95, 4, any_time=False)
    expected = binomtest(successes, 20).proportion_ci(1 - 0.05 / 4, method="exact")
    assert (low[0], high[0]) == (pytest.approx(expected.low, abs=1e-10), pytest.approx(expected.high, abs=1e-10))


@pytest.mark.parametrize("successes", [0.0, 3.7, 20.0])
def test_any_time_limits_are_where_the_mixture_has_won_enough(successes: float) -> None:
    low, high = cell_limits(np.array([successes]), np.array([20.0]), 0.95, 4, any_time=True)
    failures = 20.0 - successes
    mixture = quad(lambda q: q**successes * (1 - q) ** failures, 0, 1)[0]

    def excess(p: float) -> float:
        return float(p**successes * (1 - p) ** failures - 0.05 / 4 * mixture)

    share = successes / 20
    assert low[0] == pytest.approx(brentq(excess, 0, share, xtol=1e-12) if successes else 0.0, abs=1e-8)
    assert high[0] == pytest.approx(brentq(excess, share, 1, xtol=1e-12) if failures else 1.0, abs=1e-8)


def test_fixed_limits_of_numbers_are_hoeffdings() -> None:
    low, high = cell_limits(np.array([6.5]), np.array([20.0]), 0.95, 4, any_time=False, binary=False)
    for p in (low[0], high[0]):
        divergence = 0.325 * np.log(0.325 / p) + 0.675 * np.log(0.675 / (1 - p))
        assert 20 * divergence == pytest.approx(np.log(2 / (0.05 / 4)), abs=1e-8)


@pytest.mark.parametrize("binary", [True, False])
def test_any_time_limits_seldom_ever_miss(binary: bool) -> None:
    """Of 300 samples that are looked at after every one of 150 patients."""
    rng = np.random.default_rng(1)
    rewards = rng.random((300, 150))
    mean = 0.3 if binary else 0.5
    sums = np.cumsum(rewards < mean if binary else rewards, axis=1).astype(float)
    n = np.broadcast_to(np.arange(1.0, 151.0), sums.shape).copy()
    low, high = cell_limits(sums, n, 0.9, 1, any_time=True, binary=binary)
    missed = float(np.mean(np.any((low > mean) | (high < mean), axis=1)))
    assert missed <= 0.1
    # A fixed sample's limits, looked at as often, do not hold.
    if binary:
        low, high = cell_limits(sums, n, 0.9, 1, any_time=False)
        assert np.mean(np.any((low > mean) | (high < mean), axis=1)) > 0.15


def test_nobody_says_nothing_and_more_say_more() -> None:
    n = np.array([0.0, 10.0, 1000.0, 1e6])
    for any_time in (False, True):
        for binary in (False, True):
            low, high = cell_limits(0.3 * n, n, 0.95, 8, any_time=any_time, binary=binary)
            assert (low[0], high[0]) == (0.0, 1.0)
            assert np.all(np.diff(high - low) < 0)
            assert np.all((low[1:] < 0.3) & (high[1:] > 0.3))
