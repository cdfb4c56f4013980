"""The optimum for two arms by plain recursion over what may still happen, without tables, packing or symmetries."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

from .learners import Learner
from .policy import Policy

NO_DIFFERENCE = 1e-10  # rewards: less is a tie


def mean(successes: int, n: int) -> Fraction:
    """Of a Beta(1 + successes, 1 + failures)."""
    return Fraction(successes + 1, n + 2)


@cache
def values_of_arms(counts: tuple[tuple[int, int], ...], left: int, exact: bool = True) -> list[Any]:
    """What each arm is worth with so many patients left; counts are (successes, rewards) of each arm."""
    found = []
    for arm, (s, n) in enumerate(counts):
        p: Any = mean(s, n) if exact else float(mean(s, n))
        value = p
        if left > 1:
            for success, weight in ((1, p), (0, 1 - p)):
                then = (*counts[:arm], (s + success, n + 1), *counts[arm + 1 :])
                value += weight * max(values_of_arms(then, left - 1, exact))
        found.append(value)
    return found


@cache
def values_of_recommendations(
    taken: tuple[tuple[int, int], ...], successes: tuple[int, int], left: int, exact: bool = True
) -> list[Any]:
    """What each recommendation is worth; `taken[chosen][actual]` are counts, `successes` are by the arm taken."""
    found = []
    for chosen, row in enumerate(taken):
        value: Any = 0
        for actual in (0, 1):
            takes: Any = mean(row[actual], sum(row))
            p: Any = mean(successes[actual], taken[0][actual] + taken[1][actual])
            takes, p = (takes, p) if exact else (float(takes), float(p))
            own = (row[0] + (actual == 0), row[1] + (actual == 1))
            after = (own, taken[1]) if chosen == 0 else (taken[0], own)
            for success, weight in ((1, p), (0, 1 - p)):
                gained = (successes[0] + (success if actual == 0 else 0), successes[1] + (success if actual else 0))
                later = max(values_of_recommendations(after, gained, left - 1, exact)) if left > 1 else 0
                value += takes * weight * (success + later)
        found.append(value)
    return found


def probability_of_second(values: list[Any]) -> float:
    """1 or 0, or ½ where both are worth the same."""
    return 0.5 if abs(values[0] - values[1]) < NO_DIFFERENCE else float(values[1] > values[0])


class BayesOptimal(Learner):
    """Two arms with uniform priors; after the horizon as if each patient were the last."""

    def __init__(self, n_arms: int, horizon: int) -> None:
        super().__init__(n_arms)
        self.horizon, self.counts = horizon, ((0, 0), (0, 0))

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return int(rng.random() < self.probabilities()[1])

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        counts = [list(one) for one in self.counts]
        counts[arm][0] += int(rng.random() < reward)
        counts[arm][1] += 1
        self.counts = (counts[0][0], counts[0][1]), (counts[1][0], counts[1][1])

    def probabilities(self, weight: float = 1.0) -> list[float]:
        seen = self.counts[0][1] + self.counts[1][1]
        second = probability_of_second(values_of_arms(self.counts, max(1, self.horizon - seen), False))
        return [1.0 - second, second]


class BayesOptimalAware(Policy):
    """Uniform P(success | taken) and P(taken | chosen)."""

    def __init__(self, n_arms: int, horizon: int) -> None:
        self.n_arms = n_arms
        self.horizon, self.taken, self.successes = horizon, ((0, 0), (0, 0)), (0, 0)

    def choose(self, rng: Random) -> int:
        return int(rng.random() < self.probabilities()[1])

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        taken, successes = [list(row) for row in self.taken], list(self.successes)
        taken[chosen][actual] += 1
        successes[actual] += int(rng.random() < reward)
        self.taken = (taken[0][0], taken[0][1]), (taken[1][0], taken[1][1])
        self.successes = successes[0], successes[1]

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.update(chosen, actual, reward, rng)

    def lose_certificate(self) -> None:
        pass

    def probabilities(self) -> list[float]:
        left = max(1, self.horizon - sum(map(sum, self.taken)))
        second = probability_of_second(values_of_recommendations(self.taken, self.successes, left, False))
        return [1.0 - second, second]
