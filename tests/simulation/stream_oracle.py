"""The oracle's policies, fed with the very random numbers that the engine uses for the same decision.

What is learned by whom stays the oracle's. Only how a number becomes an arm is written out again here, as the
engine does it, so that both can be held against each other arm by arm.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import accumulate
from random import Random

import numpy as np
from numpy.typing import NDArray

import oracle
from adhere.populations import Population
from adhere.randomness import CHOOSE, GUARD, LEARN, STATED, counter_at, mix, stream_keys, uniforms
from oracle.probability import best

from .gamma_oracle import gamma_variate


class Stream(Random):
    """The numbers of one run; `point` turns to a decision and a purpose, `random` gives its next draw."""

    def __init__(self, seed: int, run: int, n_patients: int) -> None:
        super().__init__()
        keys, decisions = stream_keys(seed, run, 1), np.arange(n_patients)
        self._draws = cache(lambda purpose, draw: uniforms(keys, decisions, purpose, draw)[0].tolist())
        self._place = (0, CHOOSE, 0)
        self._keys = keys[0]

    def point(self, decision: int, purpose: np.uint64) -> None:
        self._place = (decision, purpose, 0)

    def random(self) -> float:
        decision, purpose, draw = self._place
        self._place = (decision, purpose, draw + 1)
        return float(self._draws(purpose, draw)[decision])

    def word(self) -> int:
        """The 64 bits whose upper 53 are what `random` would give."""
        decision, purpose, draw = self._place
        self._place = (decision, purpose, draw + 1)
        counter = np.array([counter_at(decision, purpose)]) + np.uint64(draw)
        return int(mix(counter ^ self._keys[:1], self._keys[1:])[0])

    def stated(self, place: int) -> Keyed:
        """The stream of one draw that makes up the probabilities stated of this decision."""
        counter = np.array([counter_at(self._place[0], STATED)]) ^ np.uint64(place)
        return Keyed(mix(counter ^ self._keys[:1], self._keys[1:]), self._keys[1:])

    def of_guard(self, nth: int, decision: int | None = None) -> float:
        """The number that the nth guard from the inside draws for a decision, this one unless told."""
        decision = self._place[0] if decision is None else decision
        return float(self._draws(GUARD, nth * 2**17)[decision])

    @property
    def decision(self) -> int:
        return self._place[0]

    def first_of_largest(self, values: list[float]) -> int:
        """The index of the largest; each tie met on the way costs a number."""
        best, tied = 0, 1
        for index, value in enumerate(values[1:], start=1):
            if value > values[best]:
                best, tied = index, 1
            elif value == values[best]:
                tied += 1
                best = index if self.random() * tied < 1.0 else best
        return best


class Keyed:
    """All numbers of a key, one after the other."""

    def __init__(self, outer: NDArray[np.uint64], middle: NDArray[np.uint64]) -> None:
        self._outer, self._middle, self._counter = outer, middle, np.zeros(1, np.uint64)

    def word(self) -> int:
        self._counter += np.uint64(1)
        return int(mix((self._counter - np.uint64(1)) ^ self._outer, self._middle)[0])

    def random(self) -> float:
        return float((self.word() >> 11) * 2.0**-53)


class Means:
    """Means as sums over counts, as the engine's: ties between floats must be the same ties."""

    def __init__(self, n_arms: int) -> None:
        self.counts, self.sums, self.means = [0] * n_arms, [0.0] * n_arms, [0.0] * n_arms

    def add(self, arm: int, reward: float) -> None:
        self.counts[arm] += 1
        self.sums[arm] += reward
        self.means[arm] = self.sums[arm] / self.counts[arm]


class Uniform(oracle.Uniform):
    """One number, scaled up."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return int(rng.random() * self.n_arms)


class EpsilonGreedy(oracle.EpsilonGreedy):
    """One number says whether to explore and, scaled up, which arm."""

    def __init__(self, n_arms: int, epsilon: float | None = None) -> None:
        super().__init__(n_arms, epsilon)
        self.seen = Means(n_arms)

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        assert isinstance(rng, Stream)
        u, epsilon = rng.random(), self.epsilon()
        return int(u / epsilon * self.n_arms) if u < epsilon else rng.first_of_largest(self.seen.means)

    def best_arms(self) -> list[int]:
        return best(self.seen.means)

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        super().update(arm, reward, rng)
        self.seen.add(arm, reward)


class Ucb1(oracle.Ucb1):
    """Ties are broken on the way."""

    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms)
        self.seen = Means(n_arms)

    def indices(self) -> list[float]:
        counts, means = self.seen.counts, self.seen.means
        width = 2.0 * math.log(sum(counts)) if any(counts) else 0.0
        return [m + math.sqrt(width / n) if n else math.inf for m, n in zip(means, counts, strict=True)]

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        assert isinstance(rng, Stream)
        return rng.first_of_largest(self.indices())

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        self.seen.add(arm, reward)


class Gittins(oracle.Gittins):
    """Ties are broken on the way; a number becomes a success only where the reward is fractional."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        assert isinstance(rng, Stream)
        return rng.first_of_largest(self.indices())

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        super().update(arm, reward, rng if 0.0 < reward < 1.0 else Random(0))


class HacUcb(oracle.HacUcb):
    """Ties are broken on the way."""

    def choose(self, rng: Random) -> int:
        assert isinstance(rng, Stream)
        return rng.first_of_largest(self.indices())


class BayesOptimal(oracle.BayesOptimal):
    """A number only for a tie, and one for a fractional reward."""

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return drawn(self.probabilities()[1], rng)

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        super().update(arm, as_success(reward, rng), rng)


class BayesOptimalOfBothArms(oracle.BayesOptimalOfBothArms):
    """The same."""

    def choose(self, rng: Random) -> int:
        return drawn(self.probabilities()[1], rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        super().update(chosen, actual, as_success(reward, rng), rng)


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
    """A block is drawn from an urn, place by place, with the numbers of its recommendations."""

    def law(self, rng: Random | None = None) -> tuple[list[float], float]:
        if isinstance(rng, Stream):
            self.number = rng.decision
        return super().law(rng)

    def begin_block(self, first: int, rng: Random) -> None:
        assert isinstance(rng, Stream)
        left, self.order, self.begun = sorted(self.order), [], first
        while left:
            u = rng.of_guard(guards_in(self.inner), first + len(self.order))
            self.order.append(left.pop(int(u * len(left))))


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
