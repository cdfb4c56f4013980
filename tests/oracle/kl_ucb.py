"""KL-UCB (Garivier & Cappé, 2011, Algorithm 1), its bound by bisection."""

from __future__ import annotations

import math
from random import Random

from .learners import Learner
from .probability import best, share


def divergence(p: float, q: float) -> float:
    """d(p, q) between Bernoulli variables, with 0 log 0 = 0 log(0/0) = 0 and x log(x/0) = ∞.

    >>> divergence(0.5, 0.5), divergence(0.2, 1.0), round(divergence(0.0, 0.5), 4)
    (0.0, inf, 0.6931)
    """

    def part(x: float, y: float) -> float:
        if x == 0.0:
            return 0.0
        return math.inf if y == 0.0 else x * math.log(x / y)

    return part(p, q) + part(1.0 - p, 1.0 - q)


def kl_bound(mean: float, n: int, exploration: float) -> float:
    """max {q in [0, 1] : n · d(mean, q) ≤ exploration}.

    >>> kl_bound(1.0, 5, 2.0), kl_bound(0.3, 5, 0.0)
    (1.0, 0.3)
    """
    if exploration == 0.0:
        return mean  # the only q without divergence; near it, rounding hides the rest
    if n * divergence(mean, 1.0) <= exploration:
        return 1.0
    low, high = mean, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if n * divergence(mean, middle) <= exploration else (low, middle)
    return low


class KlUcb(Learner):
    """The arm of largest bound; an arm that was never tried comes first. Weights are ignored."""

    def __init__(self, n_arms: int, c: float = 0.0) -> None:
        super().__init__(n_arms)
        self.c = c
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms

    def exploration(self) -> float:
        """log t + c log log t; below 0 no q would satisfy it but the mean itself, and t = 1 has no log log t."""
        t = sum(self.counts)
        return max(0.0, math.log(t) + (self.c * math.log(math.log(t)) if t > 1 and self.c else 0.0))

    def indices(self) -> list[float]:
        return [
            kl_bound(s / n, n, self.exploration()) if n else math.inf
            for s, n in zip(self.sums, self.counts, strict=True)
        ]

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return rng.choice(best(self.indices()))

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        self.counts[arm] += 1
        self.sums[arm] += reward

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return share(best(self.indices()), self.n_arms)
