"""HAC-UCB of Bilodeau, Wang & Roy (2022), with P(a|c) estimated by shares. It sees both arms, so it is a policy."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

from .policy import Policy
from .probability import best, share


class HacUcb(Policy):
    """Explore; then C-UCB until its bounds leave those of UCB; then UCB."""

    def __init__(self, n_arms: int, explore: float, delta: float) -> None:
        self.n_arms, self.explore, self.delta = n_arms, explore, delta
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.sums: dict[str, list[float]] = {"chosen": [0.0] * n_arms, "actual": [0.0] * n_arms}
        self.is_causal = True

    def width(self, n: int) -> float:
        return math.sqrt(0.5 * math.log(1.0 / self.delta) / max(n, 1))

    def indices(self) -> list[float]:
        """What is to be maximised now; testing is part of it."""
        arms = range(self.n_arms)
        n_chosen = [sum(self.pairs[c, a] for a in arms) for c in arms]
        n_actual = [sum(self.pairs[c, a] for c in arms) for a in arms]
        if min(n_chosen) < self.explore:
            return [-float(n) for n in n_chosen]
        w_chosen, w_actual = ([self.width(n) for n in counts] for counts in (n_chosen, n_actual))
        ucb = [self.sums["chosen"][c] / n_chosen[c] + w_chosen[c] for c in arms]
        of_context = [self.sums["actual"][a] / max(n_actual[a], 1) + w_actual[a] for a in arms]
        p = [[self.pairs[c, a] / n_chosen[c] for a in arms] for c in arms]
        pseudo = [sum(p[c][a] * of_context[a] for a in arms) for c in arms]
        for c in arms:
            loose = 2.0 * sum(p[c][a] * w_actual[a] for a in arms)
            if ucb[c] - pseudo[c] > 2.0 * w_chosen[c] or pseudo[c] - ucb[c] > loose:
                self.is_causal = False
        return [math.floor(2**40 * index + 0.5) / 2**40 for index in (pseudo if self.is_causal else ucb)]

    def choose(self, rng: Random) -> int:
        return rng.choice(best(self.indices()))

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.pairs[chosen, actual] += 1
        self.sums["chosen"][chosen] += reward
        self.sums["actual"][actual] += reward

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.update(chosen, actual, reward, rng)

    def lose_certificate(self) -> None:
        pass

    def probabilities(self) -> list[float]:
        return share(best(self.indices()), self.n_arms)
