"""Exponential weights, stored with their logarithms so that they stay finite."""

import math
from typing import Any

from adhere.compilation import PerArm, State, inline, unlikely
from adhere.policies.numerics.selection import largest_of

_LOWEST_LOG_WEIGHT = -1e6  # exp of it is 0 already; the bound keeps differences of logarithms finite
# Weights between these bounds are multiplied. Outside them they are recomputed from their logarithms.
_SMALLEST, _LARGEST = 1e-200, 1e200
_FEW_TERMS_DO = 0.125


class ExponentialWeights(State):
    """A weight for each arm, and the logarithm of the weight."""

    log_weights = PerArm()
    weights = PerArm(1.0)  # the same weights, scaled by `_rescale`


@inline
def total_weight(rule: Any, state: State) -> float:
    """Return the sum of all weights."""
    total = 0.0
    for arm in range(rule.n_arms):
        total += state.weights[arm]
    return total


@inline
def raise_weight(state: State, arm: int, by: float) -> None:
    """Multiply an arm's weight by exp(by)."""
    state.log_weights[arm] += by
    raised = state.weights[arm] * exp_of_small(by)
    if unlikely((raised < _SMALLEST) | (raised > _LARGEST)):
        _rescale(state)
    else:
        state.weights[arm] = raised


@inline
def _rescale(state: State) -> None:
    """Rescale the weights so that the largest is 1."""
    largest = largest_of(state.log_weights)
    for arm in range(state.weights.size):
        state.weights[arm] = math.exp(state.log_weights[arm] - largest)


@inline
def exp_of_small(x: float) -> float:
    """Return the exponential of a number that is usually slightly above 0, from the first terms of its series."""
    if unlikely(x > _FEW_TERMS_DO):
        return math.exp(x)
    x2 = x * x
    x4 = x2 * x2
    low = (1.0 + x) + x2 * (1.0 / 2.0 + x * (1.0 / 6.0))
    middle = (1.0 / 24.0 + x * (1.0 / 120.0)) + x2 * (1.0 / 720.0 + x * (1.0 / 5040.0))
    high = (1.0 / 40320.0 + x * (1.0 / 362880.0)) + x2 * (1.0 / 3628800.0)
    return low + x4 * (middle + x4 * high)


@inline
def normalise(log_weights: Any, out: Any) -> None:
    """Write weights that sum to 1, computed from their logarithms."""
    largest = largest_of(log_weights)
    total = 0.0
    for i in range(log_weights.size):
        out[i] = math.exp(log_weights[i] - largest)
        total += out[i]
    for i in range(log_weights.size):
        out[i] /= total


@inline
def lower_weight(log_weights: Any, index: Any, by: float) -> None:
    """Divide a weight by exp(by), then rescale: the largest logarithm is 0, and none is below the lowest allowed."""
    log_weights[index] -= min(by, -2.0 * _LOWEST_LOG_WEIGHT)
    largest = largest_of(log_weights)
    for i in range(log_weights.size):
        log_weights[i] = max(log_weights[i] - largest, _LOWEST_LOG_WEIGHT)


@inline
def guarded_probability(own: float, share: float, kept: float) -> float:
    """Return the probability of an arm under a guard: share + kept · own.

    A patient may take an arm that could not have been chosen, and the arm may then be credited. In that case the
    arm's own probability is used. It is stored as a negative number, so that another guard knows the arm had no
    probability.
    """
    probability = share + (kept * own if own > 0.0 else 0.0)
    return probability if probability > 0.0 else -abs(own)
