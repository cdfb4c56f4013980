"""Permuted blocks of unknown length, in exact fractions over all starts of a block that the arms so far allow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import perm, prod


def within(arms: Sequence[int], n_arms: int, length: int) -> Fraction:
    """The probability that a permuted block of a length begins with these arms.

    >>> within([0, 1], 2, 4), within([0, 0, 0], 2, 4)
    (Fraction(1, 3), Fraction(0, 1))
    """
    return Fraction(prod(perm(length // n_arms, arms.count(arm)) for arm in set(arms)), perm(length, len(arms)))


class PermutedBlocks:
    """All arms of a sequence of blocks, each of one of several lengths with equal probability.

    `begins[t]` is the probability that the arms before t are those seen and that a block begins at t. An arm that
    no block allows begins a new sequence.
    """

    def __init__(self, n_arms: int, lengths: Sequence[int]) -> None:
        self.n_arms, self.lengths = n_arms, lengths
        self.arms: list[int] = []
        self.begins = [Fraction(1)]

    def joint(self, arms: Sequence[int]) -> Fraction:
        """The probability of the arms seen so far, followed by at most one more."""
        n, total = len(arms), Fraction(not arms)
        for first in range(max(0, n - max(self.lengths)), n):
            own = [within(arms[first:], self.n_arms, length) for length in self.lengths if length >= n - first]
            total += self.begins[first] * sum(own) / len(self.lengths)
        return total

    def shares(self) -> list[Fraction]:
        """The probability of each arm at the next patient."""
        so_far = self.joint(self.arms)
        return [self.joint([*self.arms, arm]) / so_far for arm in range(self.n_arms)]

    def add(self, arm: int) -> None:
        """One more patient."""
        if self.joint([*self.arms, arm]) == 0:
            self.arms, self.begins = [], [Fraction(1)]
        self.arms.append(arm)
        n, begins = len(self.arms), Fraction(0)
        for length in self.lengths:
            if length <= n:
                full = within(self.arms[n - length :], self.n_arms, length)
                begins += self.begins[n - length] * full / len(self.lengths)
        self.begins.append(begins)
