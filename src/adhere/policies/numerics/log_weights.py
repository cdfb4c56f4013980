"""Exponential weights, kept as logarithms."""

from __future__ import annotations

import math
from typing import Any

from adhere.compilation import inline
from adhere.policies.numerics.selection import largest_of

_LOWEST_LOG_WEIGHT = -1e6  # exp of it is 0 already; a floor keeps differences of logarithms finite


def rate(n: int, horizon: int) -> float:
    """The learning rate for n weights that the usual bound on EXP3's regret asks for."""
    return math.sqrt(2.0 * math.log(n) / (n * horizon))


@inline
def normalise(log_weights: Any, out: Any) -> None:
    """Weights that sum to one, from their logarithms."""
    largest = largest_of(log_weights)
    total = 0.0
    for i in range(log_weights.size):
        out[i] = math.exp(log_weights[i] - largest)
        total += out[i]
    for i in range(log_weights.size):
        out[i] /= total


@inline
def lower(log_weights: Any, index: Any, by: float) -> None:
    """Lower one weight; keep the largest logarithm at 0 and none below the floor."""
    log_weights[index] -= min(by, -2.0 * _LOWEST_LOG_WEIGHT)
    largest = largest_of(log_weights)
    for i in range(log_weights.size):
        log_weights[i] = max(log_weights[i] - largest, _LOWEST_LOG_WEIGHT)
