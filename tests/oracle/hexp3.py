"""Hierarchical EXP3 (Alg. 4)."""

from __future__ import annotations

from random import Random

from .learners import guarded
from .policy import Policy
from .probability import draw, normalised
from .protocols import credit_table


class HierarchicalExp3(Policy):
    """Alg. 4 to the letter: losses ℓ = 1 − r, no mixing, three experts that learn only when drawn.

    The drawn expert i credits the arm j of its protocol (or none) with w_ij ← w_ij · exp(−ρ ℓ / (x_i y_ij)).
    """

    def __init__(self, n_arms: int, eta: float, rho: float) -> None:
        self.n_arms = n_arms
        self.eta, self.rho = eta, rho
        self.credits = [credit_table(protocol, n_arms) for protocol in ("chosen", "actual", "comply")]
        self.log_v = [0.0] * 3
        self.log_w = [[0.0] * n_arms for _ in range(3)]
        self.drawn = 0
        self.certified = True
        self.guards: list[tuple[list[float], float]] = []

    def choose(self, rng: Random) -> int:
        self.drawn = draw(normalised(self.log_v), rng)
        return draw(normalised(self.log_w[self.drawn]), rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        i = self.drawn
        x_i = normalised(self.log_v)[i]
        self.log_v[i] -= self.eta * (1.0 - reward) / x_i
        if self.certified:
            self.learn(i, chosen, actual, reward, x_i)
        else:
            self.overhear(chosen, actual, reward, rng)

    def learn(self, i: int, chosen: int, actual: int, reward: float, x_i: float) -> None:
        j = self.credits[i][chosen][actual]
        if j is not None:
            y_ij = guarded(normalised(self.log_w[i])[j], j, self.guards)
            if x_i * y_ij > 0.0:  # a weight that has vanished stays so
                self.log_w[i][j] -= self.rho * (1.0 - reward) / (x_i * y_ij)

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        for i in range(3):
            self.learn(i, chosen, actual, reward, 1.0)

    def hear_of_guards(self, guards: list[tuple[list[float], float]], rng: Random) -> None:
        self.guards = guards

    def lose_certificate(self) -> None:
        self.certified = False

    def probabilities(self) -> list[float]:
        x = normalised(self.log_v)
        y = [normalised(log_w) for log_w in self.log_w]
        return [sum(x[i] * y[i][j] for i in range(3)) for j in range(self.n_arms)]
