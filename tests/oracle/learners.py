"""The base bandits. A learner knows nothing of compliance: it picks arms and is told of an arm's reward."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from random import Random

from .probability import best, draw, normalised, probability_of_largest, share


class Learner(ABC):
    """A bandit over `n_arms`. `weight` is the 1/p of an expert that learns only when drawn; 1 otherwise."""

    weighted = False  # whether `weight` changes anything

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms
        self.guards: list[tuple[list[float], float]] = []  # of the round to learn from, see `Policy.hear_of_guards`

    @abstractmethod
    def choose(self, rng: Random, weight: float = 1.0) -> int:
        """Pick an arm; learns nothing."""

    @abstractmethod
    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        """Learn that `arm` earned `reward`, before anything else was learned since the decision."""

    @abstractmethod
    def probabilities(self, weight: float = 1.0) -> list[float]:
        """The probability of each arm in the next `choose`."""


def guarded(p: float, arm: int, guards: list[tuple[list[float], float]]) -> float:
    """The probability that an arm has with guards around; p where it has none, which was taken but not chosen."""
    had = p
    for shares, kept in guards:
        had = shares[arm] + kept * had
    return had or p


class Uniform(Learner):
    """Every arm alike, for ever."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return rng.randrange(self.n_arms)

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        pass

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return [1.0 / self.n_arms] * self.n_arms


class Always(Learner):
    """The same arm, for ever."""

    def __init__(self, n_arms: int, arm: int | str) -> None:
        super().__init__(n_arms)
        self.arm = int(arm)

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return self.arm

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        pass

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return [1.0 if arm == self.arm else 0.0 for arm in range(self.n_arms)]


def annealed_epsilon(t: int) -> float:
    """ε = min(1, 1 / log(t + 10⁻⁷)).

    >>> [round(annealed_epsilon(t), 3) for t in (1, 2, 3, 100)]
    [1.0, 1.0, 0.91, 0.217]
    """
    return min(1.0, 1.0 / math.log(t + 1e-7))


class EpsilonGreedy(Learner):
    """With probability ε any arm, else the arm of best mean. `epsilon=None` anneals; weights are ignored."""

    def __init__(self, n_arms: int, epsilon: float | None = None) -> None:
        super().__init__(n_arms)
        self.fixed_epsilon = epsilon
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms

    def epsilon(self) -> float:
        if self.fixed_epsilon is not None:
            return self.fixed_epsilon
        return annealed_epsilon(1 + sum(self.counts))

    def best_arms(self) -> list[int]:
        means = [s / n if n else 0.0 for s, n in zip(self.sums, self.counts, strict=True)]
        return best(means)

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        if rng.random() < self.epsilon():
            return rng.randrange(self.n_arms)
        return rng.choice(self.best_arms())

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        self.counts[arm] += 1
        self.sums[arm] += reward

    def probabilities(self, weight: float = 1.0) -> list[float]:
        epsilon = self.epsilon()
        greedy = share(self.best_arms(), self.n_arms)
        return [epsilon / self.n_arms + (1.0 - epsilon) * g for g in greedy]


class Ucb1(Learner):
    """The arm of largest mean + √(2 ln n / n_j). Weights are ignored."""

    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms)
        self.counts = [0] * n_arms
        self.sums = [0.0] * n_arms

    def indices(self) -> list[float]:
        n = sum(self.counts)
        return [
            s / n_j + math.sqrt(2.0 * math.log(n) / n_j) if n_j else math.inf
            for s, n_j in zip(self.sums, self.counts, strict=True)
        ]

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return rng.choice(best(self.indices()))

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        self.counts[arm] += 1
        self.sums[arm] += reward

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return share(best(self.indices()), self.n_arms)


class Thompson(Learner):
    """Base Thompson Sampler (Alg. 5) with 1̃ = `weight`; with weight 1 throughout, plain Thompson sampling."""

    weighted = True

    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms)
        self.successes = [0.0] * n_arms
        self.failures = [0.0] * n_arms

    def betas(self, weight: float) -> list[tuple[float, float]]:
        return [(s + weight, f + weight) for s, f in zip(self.successes, self.failures, strict=True)]

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        samples = [rng.betavariate(a, b) for a, b in self.betas(weight)]
        return samples.index(max(samples))

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        if rng.random() < reward:
            self.successes[arm] += weight
        else:
            self.failures[arm] += weight

    def probabilities(self, weight: float = 1.0) -> list[float]:
        p = probability_of_largest(self.betas(weight))
        # Two arms are drawn with a probability of at least 10⁻¹² each; no sample shows it, so `choose` need not.
        return [min(1.0 - 1e-12, max(1e-12, one)) for one in p] if self.n_arms == 2 and weight == 1.0 else p


def default_gamma(n_arms: int, horizon: int) -> float:
    """γ = min(1, √(k ln k / ((e−1) T))).

    >>> round(default_gamma(2, 10_000), 4)
    0.009
    """
    return min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1.0) * horizon)))


class Exp3(Learner):
    """p_j = (1−γ) w_j/W + γ/k; w_j ← w_j · exp(γ r̂/k) with r̂ = weight · r / p_j for the credited arm j.

    `p_j` is this learner's own probability of the arm it credits, whoever chose it. Feedback being immediate, the
    probability at decision time is that just before the update.
    """

    weighted = True

    def __init__(self, n_arms: int, gamma: float) -> None:
        super().__init__(n_arms)
        self.gamma = gamma
        self.log_weights = [0.0] * n_arms

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return draw(self.probabilities(), rng)

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        estimate = weight * reward / guarded(self.probabilities()[arm], arm, self.guards)
        self.log_weights[arm] += self.gamma * estimate / self.n_arms

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return [(1.0 - self.gamma) * w + self.gamma / self.n_arms for w in normalised(self.log_weights)]
