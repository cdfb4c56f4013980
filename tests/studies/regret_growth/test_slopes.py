from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as students_t

from adhere.errors import InputError
from adhere.intervals import t95
from adhere.simulation import Estimate
from adhere.studies.regret_growth.slopes import bend, combination, exponent, increments, order_of_growth

Floats = NDArray[np.float64]

T = [10_000, 31_623, 100_000, 316_228, 1_000_000]
RUNS = [400, 200, 100, 60, 30]


def drawn_means(rng: np.random.Generator, spread: float, together: bool) -> tuple[Floats, Floats]:
    """Means over runs of 2·T^0.6 times noise, and their errors; points have all or none of the noise in common."""
    noise = rng.gamma(1 / spread**2, spread**2, size=(max(RUNS), len(T)))
    if together:
        noise[:] = noise[:, :1]
    truth = 2.0 * np.array(T) ** 0.6
    values = [truth[i] * noise[:n, i] for i, n in enumerate(RUNS)]
    return np.array([v.mean() for v in values]), np.array([v.std(ddof=1) / np.sqrt(len(v)) for v in values])


@pytest.mark.parametrize("together", [False, True])
def test_intervals_of_exponents_hold_the_truth_whatever_runs_have_in_common(together: bool) -> None:
    rng = np.random.default_rng(1)
    found = [exponent(T, *drawn_means(rng, 0.5, together), RUNS) for _ in range(400)]
    held = np.mean([one.low <= 0.6 <= one.high for one in found])  # type: ignore[operator]
    assert held > 0.93
    # The bound is not so wide as to be useless.
    assert np.mean([one.se for one in found]) < 2 * np.std([one.mean for one in found])
    assert np.mean([one.mean for one in found]) == pytest.approx(0.6, abs=0.005)


def test_the_same_luck_in_all_points_is_allowed_for() -> None:
    """Two means over the same runs that go up and down together: their sum varies as the sum of their errors."""
    rng = np.random.default_rng(2)
    sums, errors = [], []
    for _ in range(2000):
        runs = rng.normal(size=50)
        sums.append(runs.mean() + 2 * runs.mean())
        error = runs.std(ddof=1) / np.sqrt(50)
        errors.append(combination([1, 1], [runs.mean(), 2 * runs.mean()], [error, 2 * error], [50, 50]).se)
    assert np.mean(errors) == pytest.approx(np.std(sums), rel=0.05)  # type: ignore[arg-type]


def test_hardly_any_runs_in_common_is_nearly_independence() -> None:
    one = combination([1, -1], [5.0, 3.0], [0.3, 0.4], [10_000_000, 10])
    assert one.mean == 2.0
    assert one.se == pytest.approx(0.5, rel=1e-2)


@pytest.mark.parametrize("freedom", [1, 1.5, 2, 7, 31.4, 207, 5000])
def test_students_t(freedom: float) -> None:
    assert t95(freedom) == pytest.approx(students_t.ppf(0.975, freedom), abs=2e-5)


def test_few_runs_widen_an_interval() -> None:
    """Eight runs that decide everything have seven degrees of freedom; eight that hardly count have not."""
    few = combination([1, 1], [5.0, 3.0], [0.4, 0.0001], [8, 1000])
    assert few.high == pytest.approx(8.0 + 2.3646 * 0.4, abs=1e-3)
    many = combination([1, 1], [5.0, 3.0], [0.0001, 0.4], [8, 1000])
    assert many.high == pytest.approx(8.0 + 1.9623 * 0.4, abs=1e-3)


def test_a_regret_of_zero_has_no_exponent() -> None:
    with pytest.raises(InputError, match="regret"):
        exponent([10, 100], [0.0, 1.0], [0.1, 0.1], [5, 5])


def test_equal_decades_do_not_bend() -> None:
    t = np.array([1e4, 1e5, 1e6])
    errors, runs = [0.0] * 3, [10] * 3
    assert bend(3 + 7 * np.log(t), errors, runs).mean == pytest.approx(0.0, abs=1e-9)
    assert [one.mean for one in increments(np.sqrt(t), errors, runs)] == pytest.approx([216.228, 683.772], rel=1e-5)


def order(regret: Floats, relative_error: float = 0.01) -> str:
    runs = [30] * len(T)
    errors = relative_error * regret
    power = exponent(T, regret, errors, runs)
    return order_of_growth(power, bend(regret[::2], errors[::2], runs[::2]))


def test_growth_is_called_by_its_name() -> None:
    t = np.array(T, float)
    assert order(5 + 8 * np.log(t)) == "log T"
    assert order(3 * np.sqrt(t)) == "√T"
    assert order(t**0.4) == "√T"  # slower than √T, but bent against log T
    assert order(0.1 * t / np.log(t)) == "faster than √T"
    assert order(0.2 * t) == "T"
    assert order(t**0.6, relative_error=0.5) == "unclear"


def test_a_wide_interval_is_not_called_logarithmic() -> None:
    flat = Estimate(0.1, 0.3, -0.488, 0.688)
    assert order_of_growth(flat, Estimate(0.0, 1.0, -1.96, 1.96)) != "log T"
