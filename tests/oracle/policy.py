"""What plays a trial, and the simplest of them: one learner under one protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random

from .learners import Learner
from .protocols import ProtocolLike, credit_table


class Policy(ABC):
    """Recommends an arm, then hears what was taken and what came of it."""

    n_arms: int

    @abstractmethod
    def choose(self, rng: Random) -> int:
        """Recommend an arm; changes nothing but the memory of this decision."""

    @abstractmethod
    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        """Learn from the round that the latest `choose` decided."""

    @abstractmethod
    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        """Learn from a round that someone else decided: ThompsonBounded's sampler, or a guard."""

    def hear_of_guards(self, guards: list[tuple[list[float], float]], rng: Random) -> None:  # noqa: B027
        """Arm j really had s_j + c · p_j in this round: one (s, c) for each guard, the innermost first."""

    @abstractmethod
    def lose_certificate(self) -> None:
        """From now on someone else gives the guarantee: all experts learn from every round, weight 1."""

    @abstractmethod
    def probabilities(self) -> list[float]:
        """The probability of each arm in the next `choose`."""


class Plain(Policy):
    """One learner under one protocol."""

    def __init__(self, learner: Learner, protocol: ProtocolLike = "chosen") -> None:
        self.n_arms = learner.n_arms
        self.learner = learner
        self.credit = credit_table(protocol, learner.n_arms)

    def choose(self, rng: Random) -> int:
        return self.learner.choose(rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        credited = self.credit[chosen][actual]
        if credited is not None:
            self.learner.update(credited, reward, rng)

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.update(chosen, actual, reward, rng)

    def hear_of_guards(self, guards: list[tuple[list[float], float]], rng: Random) -> None:
        self.learner.guards = guards

    def lose_certificate(self) -> None:
        pass

    def probabilities(self) -> list[float]:
        return self.learner.probabilities()
