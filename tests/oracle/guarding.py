"""Guards: policies that decide some rounds themselves, at random, and leave the others to the policy inside."""

from __future__ import annotations

from abc import abstractmethod
from random import Random

from .permuted import PermutedBlocks
from .policy import Policy
from .probability import draw

Law = tuple[list[float], float]  # s_j, and c


class Guard(Policy):
    """Arm j itself with probability s_j, the inner policy with probability c: p'_j = s_j + c · p_j.

    On the guard's rounds the inner policy overhears; learners that divide by the probability of an arm always
    divide by p'_j, with their own p_j.
    """

    def __init__(self, inner: Policy) -> None:
        self.n_arms, self.inner = inner.n_arms, inner
        self.inner_decided = False
        self.number = 0  # of rounds heard of

    @abstractmethod
    def law(self, rng: Random | None = None) -> Law:
        """The s_j and c of the next round."""

    def own_arm(self, law: Law, rng: Random) -> int | None:
        """The guard's arm, or None where it leaves the round to the inner policy."""
        shares, kept = law
        arm = draw([*shares, kept], rng)
        return None if arm == self.n_arms else arm

    def choose(self, rng: Random) -> int:
        law = self.law(rng)
        arm = self.own_arm(law, rng)
        self.inner_decided = arm is None
        arm = self.inner.choose(rng) if arm is None else arm
        self.inner.hear_of_guards([law], rng)
        return arm

    def hear_of_guards(self, guards: list[Law], rng: Random) -> None:
        self.inner.hear_of_guards([self.law(rng), *guards] if guards else [], rng)

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        learn = self.inner.update if self.inner_decided else self.inner.overhear
        learn(chosen, actual, reward, rng)
        self.finish_round(rng)

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.inner.overhear(chosen, actual, reward, rng)
        self.finish_round(rng)

    def finish_round(self, rng: Random) -> None:
        self.number += 1
        self.inner.hear_of_guards([], rng)

    def lose_certificate(self) -> None:
        self.inner.lose_certificate()

    def probabilities(self) -> list[float]:
        shares, kept = self.law()
        return [s + kept * p for s, p in zip(shares, self.inner.probabilities(), strict=True)]


class Floor(Guard):
    """Every arm has at least its minimum: by mixing, or by raising what is below it and rescaling the rest."""

    def __init__(self, inner: Policy, share: float, control: float | None = None, clips: bool = False) -> None:
        super().__init__(inner)
        self.minima = [share if control is None else control, *[share] * (inner.n_arms - 1)]
        self.clips = clips

    def law(self, rng: Random | None = None) -> Law:
        if not self.clips:
            return self.minima, 1.0 - sum(self.minima)
        p = self.inner.probabilities()
        raised = clipped(p, self.minima)
        # What is not raised was rescaled by c; the floor decides as seldom as it can.
        kept = min([r / q for r, q, s in zip(raised, p, self.minima, strict=True) if q > 0.0 and r > s], default=0.0)
        return [max(0.0, r - kept * q) for r, q in zip(raised, p, strict=True)], kept


def clipped(p: list[float], minima: list[float]) -> list[float]:
    """Raise what is below its minimum to it and rescale the rest to what is left, until nothing is below.

    >>> [round(q, 3) for q in clipped([0.05, 0.14, 0.81], [0.1, 0.135, 0.1])]
    [0.1, 0.135, 0.765]
    """
    raised: set[int] = set()
    while True:
        left = 1.0 - sum(minima[j] for j in raised)
        rest = sum(q for j, q in enumerate(p) if j not in raised)
        now = [minima[j] if j in raised else q * left / rest for j, q in enumerate(p)]
        below = {j for j, q in enumerate(now) if j not in raised and q < minima[j]}
        if not below:
            return now
        raised |= below


class BurnIn(Guard):
    """The first patients in shuffled blocks of equal numbers of each arm; then the inner policy.

    The length of each block is drawn, and its arms are shuffled. What is stated is the probability of an arm to
    somebody who knows the arms so far and no length.
    """

    def __init__(self, inner: Policy, patients: int, block: int | None = None) -> None:
        super().__init__(inner)
        lengths = [times * self.n_arms for times in (2, 3, 4)] if block is None else [block]
        self.patients, self.seen = patients, PermutedBlocks(self.n_arms, lengths)
        self.to_come: list[int] = []  # of the block drawn

    def law(self, rng: Random | None = None) -> Law:
        if self.number >= self.patients:
            return [0.0] * self.n_arms, 1.0
        return [float(share) for share in self.seen.shares()], 0.0

    def own_arm(self, law: Law, rng: Random) -> int | None:
        if law[1]:
            return None
        if not self.to_come:
            self.to_come = list(range(self.n_arms)) * (rng.choice(self.seen.lengths) // self.n_arms)
            rng.shuffle(self.to_come)
        return self.to_come[0]

    def update(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.see(chosen)
        super().update(chosen, actual, reward, rng)

    def overhear(self, chosen: int, actual: int, reward: float, rng: Random) -> None:
        self.see(chosen)
        super().overhear(chosen, actual, reward, rng)

    def see(self, chosen: int) -> None:
        if self.number < self.patients:
            self.seen.add(chosen)
            self.to_come = self.to_come[1:]
