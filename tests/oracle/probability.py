"""Small helpers about probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random


def draw(probabilities: Sequence[float], rng: Random) -> int:
    """An index with the given probability of each."""
    u = rng.random()
    last_possible = 0
    for index, probability in enumerate(probabilities):
        if probability > 0.0:
            if u < probability:
                return index
            u -= probability
            last_possible = index
    return last_possible  # rounding left a crumb


class Best(list[int]):
    """All indices of the largest of some values, which a stream of the engine's numbers breaks ties by."""

    def __init__(self, values: Sequence[float]) -> None:
        super().__init__(index for index, value in enumerate(values) if value == max(values))
        self.values = values


def best(values: Sequence[float]) -> Best:
    """All indices of the largest value."""
    return Best(values)


def share(indices: Sequence[int], n: int) -> list[float]:
    """The law of an index drawn uniformly from some of 0 … n−1."""
    return [1.0 / len(indices) if index in indices else 0.0 for index in range(n)]


def normalised(log_weights: Sequence[float]) -> list[float]:
    """w / Σw from log w, without overflow.

    >>> normalised([1000.0, 1000.0])
    [0.5, 0.5]
    """
    largest = max(log_weights)
    weights = [math.exp(value - largest) for value in log_weights]
    total = sum(weights)
    return [weight / total for weight in weights]


_CELLS = 400
_GRID = [(cell + 0.5) / _CELLS for cell in range(_CELLS)]
_LOGS = [(math.log(x), math.log1p(-x)) for x in _GRID]


def probability_of_largest(betas: Sequence[tuple[float, float]]) -> list[float]:
    """P(θ_j is the largest) for independent θ_j ~ Beta(a_j, b_j) with a_j, b_j ≥ 1.

    The integral ∫ f_j ∏ F_i by the midpoint rule.

    >>> [round(p, 3) for p in probability_of_largest([(1, 1), (2, 1)])]  # P(θ₁ > θ₀) = ∫ 2x·x dx
    [0.333, 0.667]
    """
    densities, below = [], []
    for a, b in betas:
        logs = [(a - 1) * log_x + (b - 1) * log_rest for log_x, log_rest in _LOGS]
        largest = max(logs)
        density = [math.exp(value - largest) for value in logs]
        total = sum(density)
        density = [value / total for value in density]
        cumulated, distribution = 0.0, []
        for value in density:
            distribution.append(cumulated + value / 2)
            cumulated += value
        densities.append(density)
        below.append(distribution)
    integrals = []
    for j, density in enumerate(densities):
        others = [distribution for i, distribution in enumerate(below) if i != j]
        product = density
        for distribution in others:
            product = [value * f for value, f in zip(product, distribution, strict=True)]
        integrals.append(sum(product))
    total = sum(integrals)
    return [one / total for one in integrals]
