"""Thompson sampling under two hypotheses: mediated, or confounded."""

from __future__ import annotations

import math
from random import Random

from .learners import Learner
from .policy import Policy
from .probability import probability_of_largest


def log_marginal(successes: int, failures: int) -> float:
    """Log of ∫ θ^s (1-θ)^f dθ: the probability of these outcomes in this order, for a uniform θ."""
    return math.lgamma(1 + successes) + math.lgamma(1 + failures) - math.lgamma(2 + successes + failures)


class MediatedThompson(Learner):
    """Draw a hypothesis by its posterior odds, from the marginal likelihoods of all counts; then means; then argmax.

    Mediated: one Beta(1, 1) for each arm taken, and who takes what given the arm chosen is Dirichlet(1, …).
    Confounded: one Beta(1, 1) for each arm chosen. The prior odds of mediated are given, or 0.15 to the
    power k - 1, or fade: they are then a number over 1 and the fewest patients told any arm. Everybody takes one of
    the arms.
    """

    def __init__(self, n_arms: int, odds: float | None = None, fading_odds: float | None = None) -> None:
        super().__init__(n_arms)
        self.odds = odds
        self.fading_odds = fading_odds
        self.counts = {success: [[0] * n_arms for _ in range(n_arms)] for success in (True, False)}  # [chosen][taken]

    def number(self, chosen: int | None = None, taken: int | None = None, success: bool | None = None) -> int:
        """How many patients there were of a kind."""
        arms = range(self.n_arms)
        return sum(
            self.counts[s][c][a]
            for s in ((True, False) if success is None else (success,))
            for c in (arms if chosen is None else (chosen,))
            for a in (arms if taken is None else (taken,))
        )

    def log_bayes_factor(self) -> float:
        """Of mediated over confounded."""
        arms = range(self.n_arms)
        mediated = sum(log_marginal(self.number(None, a, True), self.number(None, a, False)) for a in arms)
        cells = ((self.number(c, a, True), self.number(c, a, False)) for c in arms for a in arms)
        return mediated - sum(log_marginal(*cell) for cell in cells)

    def probability_of_mediated(self) -> float:
        if self.odds == math.inf:
            return 1.0
        prior_odds = 0.15 ** (self.n_arms - 1) if self.odds is None else self.odds
        if self.fading_odds is not None:
            prior_odds = self.fading_odds / (1.0 + min(self.number(chosen) for chosen in range(self.n_arms)))
        log_odds = math.log(prior_odds) + self.log_bayes_factor()
        return 1.0 / (1.0 + math.exp(-log_odds)) if log_odds > -700.0 else 0.0

    def betas_of_chosen(self) -> list[tuple[float, float]]:
        return [(1.0 + self.number(c, None, True), 1.0 + self.number(c, None, False)) for c in range(self.n_arms)]

    def betas_of_taken(self) -> list[tuple[float, float]]:
        return [(1.0 + self.number(None, a, True), 1.0 + self.number(None, a, False)) for a in range(self.n_arms)]

    def shapes_of_taking(self, chosen: int) -> list[float]:
        return [1.0 + self.number(chosen, a) for a in range(self.n_arms)]

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        if rng.random() >= self.probability_of_mediated():
            values = [rng.betavariate(a, b) for a, b in self.betas_of_chosen()]
            return values.index(max(values))
        theta = [rng.betavariate(a, b) for a, b in self.betas_of_taken()]
        values = []
        for chosen in range(self.n_arms):
            shares = [rng.gammavariate(shape, 1.0) for shape in self.shapes_of_taking(chosen)]
            values.append(sum(p * t for p, t in zip(shares, theta, strict=True)) / sum(shares))
        return values.index(max(values))

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        raise TypeError("it must be told both arms")

    def update_both(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.counts[rng.random() < reward][chosen][actual] += 1

    def probabilities(self, weight: float = 1.0) -> list[float]:
        """Of two arms only."""
        taking = [self.shapes_of_taking(chosen) for chosen in (0, 1)]
        more = probability_of_largest([(b, a) for a, b in taking])[1]  # P(1|1) above P(1|0)
        better = probability_of_largest(self.betas_of_taken())[1]
        mediated, confounded = self.probability_of_mediated(), probability_of_largest(self.betas_of_chosen())[1]
        p = mediated * (more * better + (1.0 - more) * (1.0 - better)) + (1.0 - mediated) * confounded
        return [1.0 - p, p]


class Aware(Policy):
    """Such a learner on its own."""

    def __init__(self, learner: MediatedThompson) -> None:
        self.n_arms = learner.n_arms
        self.learner = learner

    def choose(self, rng: Random) -> int:
        return self.learner.choose(rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.learner.update_both(chosen, actual, reward, rng)

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.update(chosen, actual, reward, rng)

    def lose_certificate(self) -> None:
        pass

    def probabilities(self) -> list[float]:
        return self.learner.probabilities()
