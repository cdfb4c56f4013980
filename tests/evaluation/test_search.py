"""The search for a number at which a rate comes down to an aim."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from adhere.evaluation.search.search import PLAIN, PROBIT, ROOT, Range, Search, UnreachableError

SUPERIORITY = Range(0.51, 0.99999, PROBIT, 5, "high")
SIZE = Range(20, 100_000, ROOT, 0, "high")
N = 10_000
AIM = 0.045
# What each of the trials comes to; the same for all numbers, as common random numbers are.
DRAWS = np.sort(np.random.default_rng(7).standard_normal(N))


def exceeding(number: float, n_trials: int, shift: float = 0.0) -> float:
    """How many trials have a z above that of a number."""
    shuffled = np.random.default_rng(1).permutation(DRAWS)[:n_trials]
    return float(np.mean(shuffled + shift > NormalDist().inv_cdf(number)))


@pytest.mark.parametrize("start", [None, 0.6, 0.955, 0.9999])
@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_a_smooth_rate_is_met_within_its_noise(start: float | None, shift: float) -> None:
    tried: list[tuple[float, int]] = []

    def rate(number: float, n_trials: int) -> float:
        tried.append((number, n_trials))
        return exceeding(number, n_trials, shift)

    found = Search(rate, AIM, SUPERIORITY).find(start, N)
    true = 1.0 - NormalDist(shift).cdf(NormalDist().inv_cdf(found))
    assert true == pytest.approx(AIM, abs=3.5 * math.sqrt(2.0 * AIM * (1.0 - AIM) / N))
    assert sum(n for _, n in tried) <= 4 * N  # few trials far from the aim
    assert found == round(found, 5)


def test_a_step_is_met_from_below() -> None:
    found = Search(lambda number, _: 0.2 if number < 0.937 else 0.001, AIM, SUPERIORITY).find(None, N)
    assert 0.937 <= found <= 0.94


def test_a_staircase_is_met_from_below() -> None:
    def rate(number: float, n_trials: int) -> float:
        return exceeding(math.floor(number * 40) / 40, n_trials)

    found = Search(rate, AIM, SUPERIORITY).find(0.7, N)
    assert rate(found, N) < AIM
    assert rate(found - 0.026, N) > AIM


def test_a_rate_that_is_not_monotone_is_met_at_one_of_its_crossings() -> None:
    def rate(number: float, n_trials: int) -> float:
        return exceeding(number, n_trials) + 0.02 * math.sin(200.0 * number)

    found = Search(rate, AIM, SUPERIORITY).find(0.8, N)
    assert rate(found, N) == pytest.approx(AIM, abs=0.003)


def test_a_number_may_work_either_way() -> None:
    falling, rising = Range(0.0, 5.0, PLAIN, 4), Range(-5.0, 0.0, PLAIN, 4)
    down = Search(lambda number, n: exceeding(NormalDist().cdf(number), n), AIM, falling).find(None, N)
    up = Search(lambda number, n: exceeding(NormalDist().cdf(-number), n), AIM, rising).find(None, N)
    assert down == pytest.approx(-up, abs=0.05)
    assert down == pytest.approx(1.695, abs=0.06)


def test_a_size_is_a_whole_number() -> None:
    """Of one z-test of two means: 4 · ((1.96 + 1.28) / 0.5)² patients for a power of 0.9."""
    search = Search(lambda number, _: NormalDist().cdf(1.96 - 0.25 * math.sqrt(number)), 0.1, SIZE)
    found = search.find(1_000, 10**9)
    assert found == pytest.approx(168, abs=1)


@pytest.mark.parametrize(("rate", "is_above"), [(0.2, True), (0.01, False)])
@pytest.mark.parametrize("strict", ["high", "low", None])
def test_an_aim_that_cannot_be_reached_is_said(rate: float, is_above: bool, strict: str | None) -> None:
    within = Range(0.51, 0.99999, PROBIT, 5, strict)  # type: ignore[arg-type]
    with pytest.raises(UnreachableError) as error:
        Search(lambda *_: rate, AIM, within).find(0.9, N)
    assert error.value.is_above == is_above


def test_a_stricter_number_has_a_lower_rate() -> None:
    search = Search(exceeding, AIM, SUPERIORITY)
    found = search.find(0.8, N)
    lower = NormalDist().inv_cdf(AIM) - NormalDist().inv_cdf(exceeding(search.stricter(found, 0.1), N))
    assert lower == pytest.approx(0.1, abs=0.05)


def test_trials_too_few_for_an_error_are_not_begun_with() -> None:
    """Of a sixteenth of 1,000 trials with a rate of 0.004 none errs most often, which says nothing."""
    tried: list[int] = []

    def rate(number: float, n: int) -> float:
        tried.append(n)
        return round(n * (1.0 - number)) / n

    assert Search(rate, 0.004, SUPERIORITY).find(0.99, 1_000) == pytest.approx(0.996, abs=0.002)
    assert set(tried) == {250, 1_000}
