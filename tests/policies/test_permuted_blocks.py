"""Permuted blocks whose lengths vary: probabilities by a filter, against enumeration in exact fractions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest

from adhere.compilation import layout_of, state_of
from adhere.policies.guards.permuted_blocks import (
    Blocks,
    arm_by_shares,
    block_lengths,
    block_rule,
    predictable_share,
    take_place,
    write_block_shares,
)
from oracle.permuted import PermutedBlocks


class Filter:
    """The functions under test on an array of their own."""

    def __init__(self, n_arms: int, lengths: tuple[int, ...]) -> None:
        self.rule = block_rule(n_arms, lengths)
        self.floats = np.zeros(int(layout_of("State", self.rule).size(self.rule)))
        self.blocks: Blocks = state_of(self.rule, self.floats)

    def shares(self) -> list[float]:
        out = np.zeros(self.rule.n_arms)
        write_block_shares(self.rule, self.blocks, out)
        return out.tolist()

    def add(self, arm: int) -> None:
        take_place(self.rule, self.blocks, arm)


def partitions(n: int, lengths: Sequence[int]) -> Iterator[list[int]]:
    """Every sequence of blocks that covers n patients, the last of which may go on."""
    if n <= 0:
        yield []
        return
    for length in lengths:
        for rest in partitions(n - length, lengths):
            yield [length, *rest]


def enumerated(arms: Sequence[int], n_arms: int, lengths: Sequence[int]) -> Fraction:
    """The probability of a sequence of arms, over all partitions, place by place in each block."""
    total = Fraction(0)
    for blocks in partitions(len(arms), lengths):
        own, place = Fraction(1, len(lengths) ** len(blocks)), 0
        for length in blocks:
            left = [length // n_arms] * n_arms
            for arm in arms[place : place + length]:
                own *= Fraction(left[arm], sum(left))
                left[arm] -= 1
            place += length
        total += own
    return total


@pytest.mark.parametrize("n_arms", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_shares_are_those_of_enumeration_over_all_lengths(n_arms: int, seed: int) -> None:
    lengths = block_lengths(n_arms)
    found, oracle, arms, rng = Filter(n_arms, lengths), PermutedBlocks(n_arms, lengths), list[int](), Random(seed)
    for _ in range(9 * n_arms):
        so_far = enumerated(arms, n_arms, lengths)
        exact = [enumerated([*arms, arm], n_arms, lengths) / so_far for arm in range(n_arms)]
        assert sum(exact) == 1
        assert oracle.shares() == exact
        assert found.shares() == pytest.approx([float(share) for share in exact], abs=1e-12)
        assert [share > 0.0 for share in found.shares()] == [share > 0 for share in exact]
        arms.append(rng.choices(range(n_arms), [float(share) for share in exact])[0])
        found.add(arms[-1])
        oracle.add(arms[-1])


def test_a_long_sequence_loses_no_precision() -> None:
    found, oracle, rng = Filter(2, (4, 6, 8)), PermutedBlocks(2, (4, 6, 8)), Random(5)
    for _ in range(400):
        shares = found.shares()
        assert shares == pytest.approx([float(share) for share in oracle.shares()], abs=1e-12)
        arm = rng.choices(range(2), shares)[0]
        found.add(arm)
        oracle.add(arm)


@pytest.mark.parametrize("lengths", [(4,), (4, 6, 8)])
def test_an_arm_that_no_block_allows_begins_a_new_one(lengths: tuple[int, ...]) -> None:
    found, fresh = Filter(2, lengths), Filter(2, lengths)
    for _ in range(max(lengths) // 2):
        found.add(0)
    assert found.shares() == [0.0, 1.0]
    found.add(0)
    fresh.add(0)
    assert found.shares() == fresh.shares()
    assert found.floats.tolist() == fresh.floats.tolist()


def test_what_is_kept_does_not_grow() -> None:
    sizes = {n: Filter(n, block_lengths(n)).floats.size for n in (2, 3, 10)}
    assert sizes == {2: 21, 3: 25, 10: 53}
    assert Filter(2, (1000,)).floats.size == 4


@pytest.mark.parametrize(("n_arms", "block"), [(2, 2), (2, 4), (2, 6), (3, 3), (3, 6), (4, 4)])
def test_the_share_that_is_certain_in_blocks_of_one_length(n_arms: int, block: int) -> None:
    orders = set(permutations([arm for arm in range(n_arms) for _ in range(block // n_arms)]))
    certain = sum(len(set(order[place:])) == 1 for order in orders for place in range(block))
    assert predictable_share(n_arms, block) == pytest.approx(certain / (block * len(orders)))


def test_an_arm_without_a_share_is_never_drawn() -> None:
    assert arm_by_shares(0.0, [0.0, 1.0], 2) == 1
    assert arm_by_shares(1.0 - 2.0**-53, [1.0 - 2.0**-50, 0.0], 2) == 0
    assert [arm_by_shares(u, [0.25, 0.5, 0.25], 3) for u in (0.2, 0.25, 0.74, 0.75)] == [0, 1, 1, 2]
