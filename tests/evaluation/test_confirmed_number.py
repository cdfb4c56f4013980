"""A number that is searched for and confirmed."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from adhere.errors import InputError
from adhere.evaluation.search.confirmed_number import Tried, aim, crossing, find_number
from adhere.evaluation.search.search import PROBIT, ROOT, Range

WITHIN = Range(0.51, 0.99999, PROBIT, 5, "high")
SHIFTS = (0.0, 0.3, 0.25)  # of the z of three scenarios; the second is the worst
N = 40_000


def errors(number: float, n_trials: int, seed: int) -> tuple[float, ...]:
    """How many trials have a z above that of a number; the same draws with the same seed."""
    draws = np.random.default_rng(seed).standard_normal((n_trials, len(SHIFTS)))
    return tuple((draws + SHIFTS > NormalDist().inv_cdf(number)).mean(axis=0).tolist())


def test_the_worst_scenario_is_held_and_confirmed_with_fresh_seeds() -> None:
    heard: list[Tried] = []
    confirmed = find_number(errors, 3, 0.05, WITHIN, 0.9, N, 5, heard.append, conservative=True)
    true = [1.0 - NormalDist(shift).cdf(NormalDist().inv_cdf(confirmed.number)) for shift in SHIFTS]
    assert 0.04 < max(true) < 0.05
    assert confirmed.worst == 1
    assert confirmed.is_confirmed
    assert confirmed.upper_limit <= 0.05
    assert heard == list(confirmed.tried)
    assert confirmed.tried[-1].number == confirmed.number
    assert [one.seed for one in confirmed.tried] == [5] * (len(confirmed.tried) - 1) + [6]
    for error, rate in zip(confirmed.errors, true, strict=True):
        assert error.low is not None
        assert error.high is not None
        assert error.low < rate < error.high


def test_the_number_has_the_target_itself_for_its_worst_error() -> None:
    confirmed = find_number(errors, 3, 0.05, WITHIN, 0.9, N, 5)
    assert true_error(confirmed.number) == pytest.approx(0.05, abs=3.0 * (0.05 * 0.95 / N) ** 0.5)
    assert confirmed.worst == 1
    assert confirmed.is_confirmed
    worst = confirmed.errors[1]
    assert worst.low is not None
    assert worst.high is not None
    assert worst.low < 0.05 < worst.high


def test_many_scenarios_do_not_make_a_number_strict() -> None:
    """The highest of ten rates that are the same is above them by chance alone."""

    def alike(number: float, n_trials: int, seed: int) -> tuple[float, ...]:
        draws = np.random.default_rng(seed).standard_normal((n_trials, 10))
        return tuple((draws > NormalDist().inv_cdf(number)).mean(axis=0).tolist())

    found = [1.0 - find_number(alike, 10, 0.05, WITHIN, None, 4_000, 10 * seed).number for seed in range(20)]
    assert np.mean(found) == pytest.approx(0.05, abs=0.0015)


def test_fresh_trials_seldom_contradict_the_number() -> None:
    """If they do, another is tried, and then hardly ever."""
    confirmed = [find_number(errors, 3, 0.05, WITHIN, None, 4_000, 10 * seed) for seed in range(60)]
    assert 0 < sum(one.tried[-1].seed % 10 == 2 for one in confirmed) < 15
    assert sum(one.is_confirmed for one in confirmed) >= 58
    assert np.mean([true_error(one.number) for one in confirmed]) == pytest.approx(0.05, abs=0.0015)


def test_too_few_trials_for_ten_errors_are_refused() -> None:
    with pytest.raises(InputError, match=r"n_trials: got 199, expected at least 200, so that about 10 of them err"):
        find_number(errors, 3, 0.05, WITHIN, None, 199, 0)


def test_what_is_called_confirmed_is_below_the_target() -> None:
    """In all but one of twenty; a first number that fresh trials do not confirm is followed by a stricter one."""
    wrong, second, n_confirmed = 0, 0, 0
    for seed in range(40):
        found = find_number(errors, 3, 0.05, WITHIN, None, 10_000, 10 * seed, conservative=True)
        wrong += found.is_confirmed and true_error(found.number) > 0.05
        second += found.tried[-1].seed == 10 * seed + 2
        n_confirmed += found.is_confirmed
    assert wrong <= 5
    assert 0 < second < 25
    assert n_confirmed > 30


def test_few_trials_do_not_make_a_number_much_stricter() -> None:
    """They just say less."""
    found = [find_number(errors, 3, 0.05, WITHIN, None, 1_000, 10 * seed, conservative=True) for seed in range(40)]
    assert sum(0.03 < true_error(confirmed.number) < 0.06 for confirmed in found) > 30
    assert {confirmed.tried[-1].seed % 10 for confirmed in found} == {1}
    assert sum(confirmed.is_confirmed for confirmed in found) < 15


def test_more_trials_aim_nearer() -> None:
    assert aim(0.05, 10, 10_000) == pytest.approx(0.044)
    assert aim(0.05, 10, 10_000) < aim(0.05, 10, 100_000) < aim(0.05, 10, 10**6) < 0.05


def test_where_the_rate_is_the_target_is_estimated_from_all_that_was_tried() -> None:
    """A power of 0.9 whose probit is a straight line over the root of the size, met at 400 patients."""
    slope, at_zero = (NormalDist().inv_cdf(0.9) + 1.96) / 20.0, -1.96
    errors = {n: 1.0 - NormalDist().cdf(at_zero + slope * n**0.5) for n in (100, 350, 420, 460)}
    tried = [Tried(n, 1_000, 0, (error,)) for n, error in errors.items()]
    assert crossing(tried, 0.1, ROOT) == pytest.approx(400.0)
    assert crossing(tried[:1], 0.1, ROOT) is None
    assert crossing(tried[2:3] * 2, 0.1, ROOT) is None
    assert crossing(tried[2:], 0.1, ROOT) is None  # beyond both: a guess, not an estimate


def true_error(number: float) -> float:
    return 1.0 - NormalDist(max(SHIFTS)).cdf(NormalDist().inv_cdf(number))
