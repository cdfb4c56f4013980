"""HierarchicalBandit (Alg. 1), with any experts, and with recycling (§3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .cache import Cache
from .learners import Learner
from .mediated import MediatedThompson
from .policy import Policy
from .protocols import ProtocolLike, credit_table


class Expert:
    """A learner in a hierarchy. Under Chosen it is certified, and then it has a cache for recycling.

    One that is told both arms has no protocol and is never certified.
    """

    def __init__(self, learner: Learner, protocol: ProtocolLike | None) -> None:
        self.learner = learner
        self.credit = None if protocol is None else credit_table(protocol, learner.n_arms)
        self.under_chosen = self.credit == credit_table("chosen", learner.n_arms)
        self.cache = Cache(learner.n_arms)

    def learn(self, chosen: int, actual: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        if self.credit is None:
            assert isinstance(self.learner, MediatedThompson)
            self.learner.update_both(chosen, actual, reward, rng)
            return
        credited = self.credit[chosen][actual]
        if credited is not None:
            self.learner.update(credited, reward, rng, weight)

    def recycle(self, chosen: int, reward: float, rng: Random) -> None:
        """What a certified expert makes of a round that another expert played."""
        if self.cache.holds_every_arm():
            own_arm = self.learner.choose(rng)
            self.learner.update(own_arm, self.cache.take(own_arm, rng), rng)
        self.cache.store(chosen, reward)


class HierarchicalBandit(Policy):
    """The top draws an expert, the expert an arm.

    A certified expert learns only when drawn, with weight 1/p (recycling: also from its cache, weight 1). The
    other experts learn from every round with weight 1, and the top from every round that it decided.
    """

    def __init__(
        self, experts: Sequence[tuple[Learner, ProtocolLike | None]], top: Learner, recycle: bool = False
    ) -> None:
        self.experts = [Expert(learner, protocol) for learner, protocol in experts]
        self.n_arms = self.experts[0].learner.n_arms
        self.top = top
        self.recycle = recycle
        self.certified = True
        self.drawn = 0
        self.weight = 1.0

    def is_certified(self, i: int) -> bool:
        return self.certified and self.experts[i].under_chosen

    def weight_of(self, i: int) -> float:
        if not self.is_certified(i) or self.recycle or not self.experts[i].learner.weighted:
            return 1.0
        return 1.0 / self.top.probabilities()[i]

    def choose(self, rng: Random) -> int:
        self.drawn = self.top.choose(rng)
        self.weight = self.weight_of(self.drawn)
        return self.experts[self.drawn].learner.choose(rng, self.weight)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.top.update(self.drawn, reward, rng)
        for i, expert in enumerate(self.experts):
            if not self.is_certified(i):
                expert.learn(chosen, actual, reward, rng)
            elif i == self.drawn:
                expert.learn(chosen, actual, reward, rng, self.weight)
            elif self.recycle:
                expert.recycle(chosen, reward, rng)

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        for expert in self.experts:
            expert.learn(chosen, actual, reward, rng)

    def hear_of_guards(self, guards: list[tuple[list[float], float]], rng: Random) -> None:
        for expert in self.experts:
            expert.learner.guards = guards

    def lose_certificate(self) -> None:
        self.certified = False

    def probabilities(self) -> list[float]:
        law = [0.0] * self.n_arms
        for i, p in enumerate(self.top.probabilities()):
            if p > 0.0:
                for arm, q in enumerate(self.experts[i].learner.probabilities(self.weight_of(i))):
                    law[arm] += p * q
        return law
