"""The oracle's Thompson samplers, which turn the engine's random numbers into arms as the engine does."""

from __future__ import annotations

import math
from functools import cache
from itertools import accumulate
from random import Random

import oracle

from .gamma_oracle import gamma_variate
from .numbered_stream import Keyed, Stream


def drawn(p: float, rng: Random) -> int:
    """The second arm with this probability."""
    return int(p) if p in (0.0, 1.0) else int(rng.random() < p)


def as_success(reward: float, rng: Random) -> float:
    """A reward as 0 or 1."""
    return reward if reward in (0.0, 1.0) else float(rng.random() < reward)


class Thompson(oracle.Thompson):
    """Beta variates as shares of Gammas; a number becomes a success only where the reward is fractional."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        assert isinstance(rng, Stream)
        gammas = [(gamma_variate(a, rng), gamma_variate(b, rng)) for a, b in self.betas(weight)]
        samples = [g / (g + h) for g, h in gammas]
        return samples.index(max(samples))

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        success = reward == 1.0 or (reward > 0.0 and rng.random() < reward)
        (self.successes if success else self.failures)[arm] += weight


class UnitThompson(Thompson):
    """Two-armed Thompson with unit steps: one number against P(θ₁ > θ₀), here by summing its series."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        if self.n_arms != 2:
            return super().choose(rng, weight)
        (c, d), (a, b) = ((int(s), int(f)) for s, f in self.betas(1.0))
        return 1 if rng.random() < probability_of_second(a, b, c, d) else 0


class TopTwoThompson(oracle.TopTwoThompson):
    """Leaders as `UnitThompson` draws them, at most 100 redraws, then one number for the challenger."""

    def __init__(self, n_arms: int, beta: float = 0.5) -> None:
        super().__init__(n_arms, beta)
        self.sampler = UnitThompson(n_arms)

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        leader = self.sampler.choose(rng)
        if rng.random() < self.beta:
            return leader
        if self.n_arms == 2:
            return 1 - leader
        for _ in range(100):
            if (arm := self.sampler.choose(rng)) != leader:
                return arm
        of_best = oracle.probability_of_largest(self.sampler.betas(1.0))
        others = [max(p, 1e-12) if arm != leader else 0.0 for arm, p in enumerate(of_best)]
        u = rng.random() * sum(others)
        return next(arm for arm, end in enumerate(accumulate(others)) if u < end)

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        self.sampler.update(arm, reward, rng)


@cache
def probability_of_second(a: int, b: int, c: int, d: int) -> float:
    """P(θ₁ > θ₀) for θ₁ ~ Beta(a, b) and θ₀ ~ Beta(c, d): Σ_{i<a} B(c+i, b+d) / ((b+i) B(1+i, b) B(c, d))."""

    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    terms = (math.exp(log_beta(c + i, b + d) - log_beta(1 + i, b) - log_beta(c, d)) / (b + i) for i in range(a))
    return math.fsum(terms)


class MediatedThompson(oracle.MediatedThompson):
    """Two arms: one number against the probability. More: one number that says by what to draw, and which draw."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        assert isinstance(rng, Stream)
        return self.choose_of_two(rng) if self.n_arms == 2 else self.choose_of_more(rng)

    def choose_of_two(self, rng: Stream) -> int:
        taking = [(b, a) for a, b in (self.shapes_of_taking(chosen) for chosen in (0, 1))]
        more, better, chosen = (
            probability_of_second(int(a), int(b), int(c), int(d))
            for (c, d), (a, b) in (taking, self.betas_of_taken(), self.betas_of_chosen())
        )
        mediated = self.probability_of_mediated()
        p = mediated * (more * better + (1.0 - more) * (1.0 - better)) + (1.0 - mediated) * chosen
        return 1 if rng.random() < p else 0

    def choose_of_more(self, rng: Stream) -> int:
        u, any_arm = rng.random(), 1.0 / 128.0 / (1 + self.number())
        if u < any_arm:
            return int(u / any_arm * self.n_arms)
        mediated = (1.0 - any_arm) * self.probability_of_mediated()
        if u >= any_arm + mediated:
            return largest(gamma_shares(self.betas_of_chosen(), rng))
        draw = rng.stated(int((u - any_arm) / mediated * 64))
        theta, values = gamma_shares(self.betas_of_taken(), draw), []
        for chosen in range(self.n_arms):
            shares = [gamma_variate(shape, draw) for shape in self.shapes_of_taking(chosen)]
            values.append(sum(p * t for p, t in zip(shares, theta, strict=True)) / sum(shares))
        return largest(values)

    def update_both(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        success = reward == 1.0 or (reward > 0.0 and rng.random() < reward)
        super().update_both(chosen, actual, float(success), rng)


def gamma_shares(betas: list[tuple[float, float]], rng: Stream | Keyed) -> list[float]:
    """Beta variates as shares of Gammas."""
    gammas = [(gamma_variate(a, rng), gamma_variate(b, rng)) for a, b in betas]
    return [g / (g + h) for g, h in gammas]


def largest(values: list[float]) -> int:
    return values.index(max(values))
