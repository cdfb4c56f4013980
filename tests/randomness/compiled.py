"""Draws as compiled code makes them: each function fills an array, one decision of a run for each entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from adhere.compilation import state_of
from adhere.policies.hybrids.recycling import CacheRule, count_outcomes, take_outcome
from adhere.policies.numerics.beta import draw_success
from adhere.policies.numerics.gamma import draw_gamma
from adhere.policies.numerics.selection import draw_from, newest_wins_tie
from adhere.randomness import CHOOSE, point, stream, uniform

Floats = NDArray[np.float64]


def drawn(fill: Callable[..., None], n: int, *arguments: Any, seed: int = 0) -> Floats:
    """What `fill` draws with the stream of run 0."""
    out = np.zeros(n)
    fill(stream(seed, 0), out, *arguments)
    return out


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def consecutive(rng: Any, out: Any) -> None:
    point(rng, 3, CHOOSE)
    for i in range(out.size):
        out[i] = uniform(rng)


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def betas(rng: Any, out: Any, a: float, b: float) -> None:
    for i in range(out.size):
        point(rng, i, CHOOSE)
        g, h = draw_gamma(a, rng), draw_gamma(b, rng)
        out[i] = g / (g + h)


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def gammas(rng: Any, out: Any, shape: float) -> None:
    for i in range(out.size):
        point(rng, i, CHOOSE)
        out[i] = draw_gamma(shape, rng)


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def categories(rng: Any, out: Any, probabilities: Any) -> None:
    for i in range(out.size):
        point(rng, i, CHOOSE)
        out[i] = draw_from(probabilities, rng)


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def tied_winners(rng: Any, out: Any, n_tied: int) -> None:
    for i in range(out.size):
        point(rng, i, CHOOSE)
        for candidate in range(1, n_tied):
            if newest_wins_tie(candidate + 1, rng):
                out[i] = candidate


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def successes(rng: Any, out: Any, reward: float) -> None:
    for i in range(out.size):
        point(rng, i, CHOOSE)
        out[i] = draw_success(reward, rng)


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def _fill_outcomes(rng: Any, taken: Any, rule: Any, cache: Any, counts: Any) -> None:
    for i in range(taken.shape[0]):
        point(rng, i, CHOOSE)
        for value in range(counts.size):
            for _ in range(counts[value]):
                count_outcomes(rule, state_of(rule, cache), 1, rule.values[value], +1)
        for j in range(taken.shape[1]):
            taken[i, j] = take_outcome(rule, state_of(rule, cache), 1, rng)


def outcomes(n: int, values: list[float], counts: list[int], seed: int = 0) -> tuple[Floats, Floats]:
    """All outcomes of arm 1 of three, taken one by one, n times over; and what is left in the cache."""
    rule, cache = CacheRule(3, len(values), np.array(values)), np.zeros(3 * (1 + len(values)))
    taken = np.zeros((n, sum(counts)))
    _fill_outcomes(stream(seed, 0), taken, rule, cache, np.array(counts))
    return taken, cache
