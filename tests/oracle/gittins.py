"""The finite-horizon Gittins index, by bisection on the rate at which one would rather retire."""

from __future__ import annotations

from functools import cache
from random import Random

from .learners import Learner
from .probability import best, share


@cache
def gittins_index(successes: int, failures: int, n_left: int) -> float:
    """The sure reward a patient for which one would as soon play the arm once more as retire.

    >>> gittins_index(1, 0, 1) == 2 / 3
    True
    """
    if n_left == 1:
        return (successes + 1) / (successes + failures + 2)
    low, high = 0.0, 1.0
    while high - low > 1e-10:
        rate = (low + high) / 2
        low, high = (
            (rate, high) if value_of_playing(successes, failures, n_left, rate) > n_left * rate else (low, rate)
        )
    return (low + high) / 2


def value_of_playing(successes: int, failures: int, n_left: int, rate: float) -> float:
    """Expected rewards of playing now and retiring later, at this rate, when that is better."""
    later = [0.0] * (n_left + 1)  # by further successes, after all patients
    for n_played in reversed(range(n_left)):
        now = []
        for won in range(n_played + 1):
            p = (successes + won + 1) / (successes + failures + n_played + 2)
            play = p * (1 + later[won + 1]) + (1 - p) * later[won]
            now.append(play if n_played == 0 else max(play, (n_left - n_played) * rate))
        later = now
    return later[0]


class Gittins(Learner):
    """The arm of largest index."""

    def __init__(self, n_arms: int, horizon: int) -> None:
        super().__init__(n_arms)
        self.horizon = horizon
        self.counts = [(0, 0)] * n_arms

    def indices(self) -> list[float]:
        n_left = max(1, self.horizon - sum(s + f for s, f in self.counts))
        return [gittins_index(s, f, n_left) for s, f in self.counts]

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return rng.choice(best(self.indices()))

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        (s, f), success = self.counts[arm], rng.random() < reward
        self.counts[arm] = (s + 1, f) if success else (s, f + 1)

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return share(best(self.indices()), self.n_arms)
