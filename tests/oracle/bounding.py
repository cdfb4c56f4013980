"""ThompsonBounded (Alg. 2) in its three readings."""

from __future__ import annotations

from random import Random

from .cache import Cache
from .learners import Thompson
from .policy import Policy


class ThompsonBounded(Policy):
    """Two Thompson samples: if they agree a third is pulled, else the inner policy's arm.

    The Thompson sampler learns from its own pulls. The inner policy learns from every round, its top from the
    rounds it decided; with `literal` it learns from its own rounds only, by its own rules. With `recycle`,
    when the cache holds the third sample's arm, Thompson learns from there and the inner policy plays.
    """

    def __init__(self, inner: Policy, recycle: bool = False, literal: bool = False) -> None:
        self.n_arms = inner.n_arms
        self.inner = inner
        self.thompson = Thompson(inner.n_arms)
        self.cache = Cache(inner.n_arms)
        self.recycle = recycle
        self.literal = literal
        self.certified = True
        self.inner_decided = False
        self.recycled_arm: int | None = None
        if not literal:
            inner.lose_certificate()

    def choose(self, rng: Random) -> int:
        self.inner_decided = True
        self.recycled_arm = None
        if self.thompson.choose(rng) == self.thompson.choose(rng):
            third = self.thompson.choose(rng)
            if self.recycle and self.cache.holds(third):
                self.recycled_arm = third
            else:
                self.inner_decided = False
                return third
        return self.inner.choose(rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        if self.recycled_arm is not None:
            self.thompson.update(self.recycled_arm, self.cache.take(self.recycled_arm, rng), rng)
        if self.inner_decided:
            self.inner.update(chosen, actual, reward, rng)
        elif not self.literal:
            self.inner.overhear(chosen, actual, reward, rng)
        if not self.inner_decided or not self.certified:
            self.thompson.update(chosen, reward, rng)
        elif self.recycle:
            self.cache.store(chosen, reward)

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.thompson.update(chosen, reward, rng)
        self.inner.overhear(chosen, actual, reward, rng)

    def hear_of_guards(self, guards: list[tuple[list[float], float]], rng: Random) -> None:
        self.inner.hear_of_guards(guards, rng)

    def lose_certificate(self) -> None:
        """An outer guarantee: Thompson too learns from every round, so there is nothing left to recycle."""
        self.certified = False
        self.recycle = self.literal = False
        self.inner.lose_certificate()

    def probabilities(self) -> list[float]:
        p = self.thompson.probabilities()
        agree = sum(p_j * p_j for p_j in p)
        pulled = [
            0.0 if self.recycle and self.cache.holds(j) else agree * p_j  # the rest goes to the inner policy
            for j, p_j in enumerate(p)
        ]
        to_inner = 1.0 - sum(pulled)
        return [own + to_inner * h_j for own, h_j in zip(pulled, self.inner.probabilities(), strict=True)]
