"""Every law that policies draw from, as compiled code draws it, against SciPy's.

Some ninety p-values in this file, each required to be above 10⁻⁴: false alarms below 1% in all. Seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from adhere.randomness import CHOOSE, stream_keys, uniforms

from .compiled import betas, categories, consecutive, drawn, gammas, outcomes, successes, tied_winners

N = 20_000
SMALLEST_P = 1e-4


def test_uniform_numbers() -> None:
    numbers = drawn(consecutive, 10 * N)
    assert 0.0 <= numbers.min() < numbers.max() < 1.0
    assert stats.kstest(numbers, "uniform").pvalue > SMALLEST_P
    assert len(np.unique(numbers)) == len(numbers)
    assert np.all(numbers * 2.0**53 == np.floor(numbers * 2.0**53))  # steps of 2⁻⁵³
    below = np.bincount((numbers * 1000).astype(int), minlength=1000)
    assert stats.chisquare(below).pvalue > SMALLEST_P


def test_compiled_numbers_are_numpys() -> None:
    keys = stream_keys(0, 0, 1)
    expected = [uniforms(keys, np.array([3]), CHOOSE, draw)[0, 0] for draw in range(1000)]
    np.testing.assert_array_equal(drawn(consecutive, 1000), expected)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1),
        (1, 5),
        (7, 1),
        (2, 2),
        (1.3, 2.7),
        (2.7, 1.3),
        (50, 3),
        (3, 50),
        (1.0001, 1.0001),
        (1e4, 2e4),
        (2, 1e6),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_beta(a: float, b: float, seed: int) -> None:
    draws = drawn(betas, N, float(a), float(b), seed=seed)
    assert 0.0 <= draws.min() <= draws.max() <= 1.0
    assert stats.kstest(draws, stats.beta(a, b).cdf).pvalue > SMALLEST_P
    # The KS test is blind in the tails, which decide who is tried again: compare them by themselves.
    for q in (0.001, 0.999):
        n_below = int((draws < stats.beta(a, b).ppf(q)).sum())
        assert stats.binomtest(n_below, N, q).pvalue > SMALLEST_P


@pytest.mark.parametrize("shape", [1, 1.001, 1.2, 1.5, 2, 3, 7.3, 40, 1e3, 1e6])
@pytest.mark.parametrize("seed", [0, 1])
def test_gamma(shape: float, seed: int) -> None:
    draws = drawn(gammas, N, float(shape), seed=seed)
    law = stats.gamma(shape)
    assert draws.min() > 0.0
    assert stats.kstest(draws, law.cdf).pvalue > SMALLEST_P
    for q in (0.001, 0.01, 0.99, 0.999):
        assert stats.binomtest(int((draws < law.ppf(q)).sum()), N, q).pvalue > SMALLEST_P


@pytest.mark.parametrize(
    "probabilities",
    [(0.5, 0.5), (0.2, 0.3, 0.5), (0.98, 0.01, 0.005, 0.005), (0.0, 0.25, 0.0, 0.75), (1.0, 0.0), (0.1,) * 10],
)
def test_draw_from(probabilities: tuple[float, ...]) -> None:
    counts = np.bincount(drawn(categories, N, np.array(probabilities)).astype(int), minlength=len(probabilities))
    possible = np.array(probabilities) > 0
    assert not counts[~possible].any()
    if possible.sum() > 1:
        assert stats.chisquare(counts[possible], N * np.array(probabilities)[possible]).pvalue > SMALLEST_P


@pytest.mark.parametrize("n_tied", [2, 3, 4, 7])
def test_ties_are_broken_evenly(n_tied: int) -> None:
    counts = np.bincount(drawn(tied_winners, N, n_tied).astype(int), minlength=n_tied)
    assert len(counts) == n_tied
    assert stats.chisquare(counts).pvalue > SMALLEST_P


@pytest.mark.parametrize("reward", [0.0, 0.003, 0.4, 0.97, 1.0])
def test_draw_success(reward: float) -> None:
    n_successes = int(drawn(successes, N, reward).sum())
    assert stats.binomtest(n_successes, N, reward).pvalue > SMALLEST_P


VALUES, COUNTS = [0.0, 0.4, 1.0], [3, 2, 5]


def test_outcomes_are_taken_without_replacement() -> None:
    taken, cache = outcomes(N, VALUES, COUNTS)
    for value, count in zip(VALUES, COUNTS, strict=True):
        assert ((taken == value).sum(axis=1) == count).all()
    assert not cache.any()


@pytest.mark.parametrize("n_first", [1, 4, 7])
@pytest.mark.parametrize(("value", "count"), list(zip(VALUES, COUNTS, strict=True)))
def test_how_many_of_the_first_outcomes_had_a_reward(n_first: int, value: float, count: int) -> None:
    taken, _ = outcomes(N, VALUES, COUNTS)
    found = (taken[:, :n_first] == value).sum(axis=1)
    law = stats.hypergeom(sum(COUNTS), count, n_first)
    support = np.arange(max(0, n_first + count - sum(COUNTS)), min(n_first, count) + 1)
    counts = np.array([(found == n).sum() for n in support])
    assert counts.sum() == N
    assert stats.chisquare(counts, N * law.pmf(support)).pvalue > SMALLEST_P


def test_every_order_of_outcomes_is_as_likely() -> None:
    taken, _ = outcomes(N, [0.0, 1.0], [2, 2])
    counts = np.bincount((taken @ [8, 4, 2, 1]).astype(int))
    assert stats.chisquare(counts[counts > 0]).pvalue > SMALLEST_P
    assert (counts > 0).sum() == math.comb(4, 2)
