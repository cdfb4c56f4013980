"""Monte Carlo errors, held against how estimates really spread over many simulations, and intervals that hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest

from adhere.evaluation.characteristics import monte_carlo
from adhere.evaluation.outcomes import Floats
from adhere.intervals import Estimate
from adhere.simulation.measures.moments import Moments
from adhere.simulation.measures.quantiles import MAX_VALUES, QuantileSketch, Spread

N_TRIALS, N_SIMULATIONS = 400, 400
HAS_SHARE, SCALE = 0.6, 2.0


def _rows(rng: np.random.Generator) -> Floats:
    """Columns: has, value, value², hit (0 where there is no value), and the powers of a skewed number."""
    has = rng.random(N_TRIALS) < HAS_SHARE
    value, hit = rng.exponential(SCALE, N_TRIALS), rng.random(N_TRIALS) < 0.9
    skewed = rng.gamma(4.0, SCALE / 2, N_TRIALS) + 5.0  # its standard deviation is SCALE
    return np.column_stack([has, has * value, has * value**2, has & hit, skewed, skewed**2, skewed**3]).astype(float)


CASES: dict[str, tuple[Callable[[Moments], Estimate | None], float]] = {
    "probability": (lambda found: monte_carlo.probability(found, 0), HAS_SHARE),
    "mean": (lambda found: found.estimate(4), 5.0 + 2 * SCALE),
    "probability where any": (lambda found: monte_carlo.probability_where_any(found, 0, 3), 0.9),
    "miss where any": (lambda found: monte_carlo.miss_where_any(found, 0, 3), 0.1),
    "mean where any": (lambda found: monte_carlo.mean_where_any(found, 0, 1), SCALE),
    "root": (lambda found: monte_carlo.root_mean_square(found, 0, 2), SCALE * 2**0.5),
    "deviation": (lambda found: monte_carlo.standard_deviation(found, 4, 5, 6), SCALE),
}


def _holding(found: list[Estimate], truth: float) -> float:
    """How many of the intervals have the truth."""
    return float(
        np.mean([one.low is not None and one.high is not None and one.low <= truth <= one.high for one in found])
    )


@pytest.fixture(scope="module")
def simulations() -> list[Moments]:
    """The same small simulation many times, each put together from blocks."""
    rng = np.random.default_rng(16)
    found = []
    for _ in range(N_SIMULATIONS):
        first, *others = Moments.of_blocks(_rows(rng), 150)
        for block in others:
            first = first.merge(block)
        found.append(first)
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_error_said_is_the_error_made(name: str, simulations: list[Moments]) -> None:
    estimator, truth = CASES[name]
    found = [one for one in map(estimator, simulations) if one is not None]
    assert len(found) == N_SIMULATIONS
    said, made = np.mean([one.se for one in found if one.se is not None]), np.std([one.mean for one in found])
    assert 0.85 < said / made < 1.15
    assert 0.91 < _holding(found, truth) < 0.98
    assert np.mean([one.mean for one in found]) == pytest.approx(
        truth, abs=5 * made / N_SIMULATIONS**0.5 + 0.01 * truth
    )


def test_intervals_of_quantiles_hold() -> None:
    rng, q = np.random.default_rng(4), 0.75
    held, held_by_sketch = [], []
    for _ in range(N_SIMULATIONS):
        sizes = rng.integers(0, 1000, N_TRIALS)
        one = monte_carlo.quantile_of_counts(np.bincount(sizes, minlength=1000), q)
        assert one.mean == np.quantile(sizes, q, method="inverted_cdf")
        held.append(one)
        sketch = QuantileSketch.of(sizes)
        held_by_sketch.append(monte_carlo.quantile_of_spread(Spread(np.zeros(0), np.zeros(0, np.int64), sketch), q))
    assert 0.91 < _holding(held, 749) < 0.985
    assert 0.91 < _holding(held_by_sketch, 749.5) < 0.995  # wider by what a sketch does not know


def test_quantiles_of_few_values_are_among_them_whatever_the_order_of_blocks() -> None:
    days = np.random.default_rng(5).choice([24.0, 84.0], 1000, p=[0.3, 0.7])
    blocks = [Spread.of(days[first : first + 100]) for first in range(0, 1000, 100)]
    spread = reduce(Spread.merge, blocks)
    assert spread == reduce(Spread.merge, blocks[::-1]) == Spread.of(days)
    for q, value in ((0.05, 24.0), (0.75, 84.0)):
        assert monte_carlo.quantile_of_spread(spread, q) == Estimate(value, 0.0, value, value)
    many = spread.merge(Spread.of(np.linspace(1.0, 2.0, MAX_VALUES + 1)))
    assert not many.is_exact
    assert not Spread.of(days).merge(many).is_exact
    most = monte_carlo.quantile_of_spread(many, 0.95)
    assert most.low is not None
    assert most.high is not None
    assert most.low < 84.0 <= most.high


def test_nothing_seen_is_not_no_error() -> None:
    """Of 0 or of n hits, the limit is at least that of the rule of three."""
    none, every = monte_carlo.share(0, 1000), monte_carlo.share(1000, 1000)
    assert (none.mean, none.low, every.mean, every.high) == (0.0, 0.0, 1.0, 1.0)
    assert none.high is not None
    assert none.se is not None
    assert 3 / 1000 < none.high < 4 / 1000
    assert 0.0 < none.se < none.high
    assert every.low == pytest.approx(1.0 - none.high)
    same = monte_carlo.paired_probability_difference(Moments.of(np.zeros((1000, 1))), 0)
    assert same.mean == 0.0
    assert same.low is not None
    assert same.high is not None
    assert 0.002 < same.high == -same.low < 0.004


@pytest.mark.parametrize(("both", "first", "second"), [(0.3, 0.05, 0.02), (0.02, 0.01, 0.002)])
def test_paired_differences_use_that_both_designs_meet_the_same_patients(
    both: float, first: float, second: float
) -> None:
    rng = np.random.default_rng(8)
    kinds = rng.choice(4, size=(N_SIMULATIONS, N_TRIALS), p=[both, first, second, 1 - both - first - second])
    differences = (kinds == 1).astype(float) - (kinds == 2)
    found = [monte_carlo.paired_probability_difference(Moments.of(one[:, None]), 0) for one in differences]
    np.testing.assert_allclose([one.mean for one in found], differences.mean(axis=1))
    said, made = np.mean([one.se for one in found if one.se is not None]), differences.mean(axis=1).std()
    assert 0.85 < said / made < 1.25
    holds = np.mean(
        [one.low <= first - second <= one.high for one in found if one.low is not None and one.high is not None]
    )
    assert 0.92 < holds < 0.99


def test_one_trial_says_nothing_of_its_error() -> None:
    alone = Moments.of(np.array([[1.0, 2.0, 4.0, 1.0, 5.0, 25.0, 125.0]]))
    assert monte_carlo.mean_where_any(alone, 0, 1) == Estimate(2.0, None, None, None)
    assert monte_carlo.root_mean_square(alone, 0, 2) == Estimate(2.0, None, None, None)
    assert monte_carlo.standard_deviation(alone, 4, 5, 6) is None
    none_has_it = Moments.of(np.zeros((3, 7)))
    for estimator in (monte_carlo.mean_where_any, monte_carlo.root_mean_square, monte_carlo.probability_where_any):
        assert estimator(none_has_it, 0, 1) is None
