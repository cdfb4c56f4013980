"""The oracle's policies, fed with the very random numbers that the engine uses for the same decision.

What is learned by whom stays the oracle's. Only how a number becomes an arm is written out again here, as the
engine does it, so that both can be held against each other arm by arm.
"""

from __future__ import annotations

import math
from itertools import accumulate
from random import Random

import numpy as np
from numpy.typing import NDArray

import oracle
from adhere.policies.learners.kl_ucb import largest_within
from adhere.populations import Population
from adhere.randomness import CHOOSE, LEARN

from .numbered_stream import Stream
from .thompson_oracles import MediatedThompson as MediatedThompson
from .thompson_oracles import Thompson as Thompson
from .thompson_oracles import TopTwoThompson as TopTwoThompson
from .thompson_oracles import UnitThompson as UnitThompson
from .thompson_oracles import as_success, drawn


class EpsilonGreedy(oracle.EpsilonGreedy):
    """One number says whether to explore and, scaled up, which arm."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        u, epsilon = rng.random(), self.epsilon()
        return int(u / epsilon * self.n_arms) if u < epsilon else rng.choice(self.best_arms())


class KlUcb(oracle.KlUcb):
    """Ties are those of the engine's bounds: sums of 0.4 may be equal but for rounding."""

    def indices(self) -> list[float]:
        seen = zip(super().indices(), self.sums, self.counts, strict=True)
        bounds = [(bound, largest_within(s / n, self.exploration() / n)) for bound, s, n in seen if n]
        assert all(abs(bound - engines) < 1e-12 for bound, engines in bounds)
        found = iter(engines for _, engines in bounds)
        return [next(found) if n else math.inf for n in self.counts]


class Gittins(oracle.Gittins):
    """A number becomes a success only where the reward is fractional."""

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        super().update(arm, reward, rng if 0.0 < reward < 1.0 else Random(0))


class BayesOptimal(oracle.BayesOptimal):
    """A number only for a tie, and one for a fractional reward."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return drawn(self.probabilities()[1], rng)

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        super().update(arm, as_success(reward, rng), rng)


class BayesOptimalAware(oracle.BayesOptimalAware):
    """The same."""

    def choose(self, rng: Random) -> int:
        return drawn(self.probabilities()[1], rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        super().update(chosen, actual, as_success(reward, rng), rng)


class Cache(oracle.Cache):
    """Outcomes are looked through from the smallest reward up."""

    def take(self, arm: int, rng: Random) -> float:
        left = rng.random() * sum(self.stored[arm].values())
        for reward in sorted(self.stored[arm]):
            left -= self.stored[arm][reward]
            if left < 0.0:
                break
        self.stored[arm][reward] -= 1
        if not self.stored[arm][reward]:
            del self.stored[arm][reward]
        return reward


class ThompsonBounded(oracle.ThompsonBounded):
    """The engine recycles while it chooses, and its sampler learns before the inner policy does."""

    def __init__(self, inner: oracle.Policy, recycle: bool = False, literal: bool = False) -> None:
        super().__init__(inner, recycle, literal)
        self.thompson = UnitThompson(self.n_arms)
        self.cache = Cache(self.n_arms)

    def choose(self, rng: Random) -> int:
        self.inner_decided = True
        if self.thompson.choose(rng) == self.thompson.choose(rng):
            third = self.thompson.choose(rng)
            if not (self.recycle and self.cache.holds(third)):
                self.inner_decided = False
                return third
            self.thompson.update(third, self.cache.take(third, rng), rng)
        return self.inner.choose(rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        if not self.inner_decided or not self.certified:
            self.thompson.update(chosen, reward, rng)
        elif self.recycle:
            self.cache.store(chosen, reward)
        if self.inner_decided:
            self.inner.update(chosen, actual, reward, rng)
        elif not self.literal:
            self.inner.overhear(chosen, actual, reward, rng)


def guards_in(policy: oracle.Policy) -> int:
    """How many guards are in a policy."""
    inner = getattr(policy, "inner", None)
    return isinstance(policy, Floor | BurnIn) + (guards_in(inner) if inner else 0)


class Floor(oracle.Floor):
    """One number of the guard's own, which takes none from the inner policy."""

    def own_arm(self, law: tuple[list[float], float], rng: Random) -> int | None:
        assert isinstance(rng, Stream)
        u = rng.of_guard(guards_in(self.inner))
        ends = list(accumulate(law[0]))
        return next((arm for arm, end in enumerate(ends) if u < end), None)


class BurnIn(oracle.BurnIn):
    """No length is drawn: one number of the guard's own says which arm, by what is stated."""

    def law(self, rng: Random | None = None) -> tuple[list[float], float]:
        if isinstance(rng, Stream):
            self.number = rng.decision
        return super().law(rng)

    def own_arm(self, law: tuple[list[float], float], rng: Random) -> int | None:
        assert isinstance(rng, Stream)
        if law[1]:
            return None
        u = rng.of_guard(guards_in(self.inner))
        return next(arm for arm, end in enumerate(accumulate(law[0])) if u < end)


def hierarchical(
    experts: list[tuple[oracle.Learner, oracle.ProtocolLike | None]], top: oracle.Learner, recycle: bool = False
) -> oracle.HierarchicalBandit:
    """The oracle's own, with caches that are looked through in the engine's order."""
    made = oracle.HierarchicalBandit(experts, top, recycle)
    for expert in made.experts:
        expert.cache = Cache(made.n_arms)
    return made


def arms_of(policy: oracle.Policy, population: Population, n_patients: int, seed: int, run: int) -> NDArray[np.int64]:
    """The arm chosen for each patient of a run."""
    rng, patients = Stream(seed, run, n_patients), population.patients(seed, run, n_patients)
    arms = np.empty(n_patients, np.int64)
    for t in range(n_patients):
        rng.point(t, CHOOSE)
        chosen = arms[t] = policy.choose(rng)
        rng.point(t, LEARN)
        policy.update(int(chosen), int(patients.actual[t, chosen]), float(patients.reward[t, chosen]), rng)
    return arms
