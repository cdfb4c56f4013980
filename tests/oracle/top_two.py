"""Top-two Thompson sampling (Russo, 2016, section 3.2): sample again until another arm is the best."""

from __future__ import annotations

from random import Random

from .learners import Thompson
from .probability import draw, probability_of_largest

_PATIENCE = 300


def top_two_law(of_best: list[float], beta: float) -> list[float]:
    """α_i (β + (1 − β) Σ_{j≠i} α_j / (1 − α_j)) for each arm i.

    >>> [round(p, 3) for p in top_two_law([0.2, 0.8], 0.75)], top_two_law([0.5, 0.25, 0.25], 1.0)
    ([0.35, 0.65], [0.5, 0.25, 0.25])
    """
    law = []
    for i, own in enumerate(of_best):
        as_challenger = sum(other / (1.0 - other) for j, other in enumerate(of_best) if j != i)
        law.append(own * (beta + (1.0 - beta) * as_challenger))
    return law


class TopTwoThompson(Thompson):
    """The leader with probability β, else the challenger. It has no weights."""

    weighted = False

    def __init__(self, n_arms: int, beta: float = 0.5) -> None:
        super().__init__(n_arms)
        self.beta = beta

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        leader = super().choose(rng)
        if rng.random() < self.beta:
            return leader
        for _ in range(_PATIENCE if self.n_arms > 2 else 0):
            challenger = super().choose(rng)
            if challenger != leader:
                return challenger
        # Sampling again could take for ever. Whenever it ends, it ends with an arm of this law.
        of_best = probability_of_largest(self.betas(1.0))
        others = [0.0 if arm == leader else p for arm, p in enumerate(of_best)]
        return draw([p / sum(others) for p in others], rng)

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        super().update(arm, reward, rng)

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return top_two_law(probability_of_largest(self.betas(1.0)), self.beta)
