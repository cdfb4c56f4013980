"""Drawing an arm by shares that the design prescribes."""

from __future__ import annotations

import numpy as np
import pytest

from adhere.compilation import memo_of, state_of
from adhere.policies import as_policy
from adhere.policies.policy import TrialShape, probabilities_size
from adhere.randomness import CHOOSE, stream, uniforms
from adhere.trial.allocation import allocate, block_shares, draw_by_shares, shares_left, stated_shares

ALL = np.zeros(3, np.int64)


def shares_without(shares: list[float], *dropped: int) -> list[float]:
    out = np.array(shares)
    shares_left(out, np.isin(np.arange(out.size), dropped), out.size)
    return [float(one) for one in out]


def test_shares_of_dropped_arms_go_to_the_others_in_proportion() -> None:
    assert shares_without([0.2, 0.2, 0.6], 1) == pytest.approx([0.25, 0.0, 0.75])
    assert shares_without([1e-14, 1e-14, 1.0], 2) == [0.5, 0.5, 0.0]  # nothing was left


def test_an_arm_without_a_share_is_never_drawn() -> None:
    rng = stream(1, 0)
    with np.errstate(over="ignore"):
        drawn = {draw_by_shares(np.array([0.0, 0.4, 0.6 - 1e-9, 0.0]), 4, rng) for _ in range(50)}
        assert drawn == {1, 2}
        rounded = np.array([0.0, 1e-300, 0.0])  # which add up to less than any random number but 0
        assert draw_by_shares(rounded, 3, rng) == 1


def test_a_block_is_used_up_before_the_next_in_each_stratum() -> None:
    left, out, told = np.zeros(6), np.zeros(3), []
    for number in range(12):
        block_shares(left, number % 2, 2.0, ALL, 3, out)
        assert out.sum() == pytest.approx(1.0)
        arm = int(np.argmax(out))
        left[number % 2 * 3 + arm] -= 1.0
        told.append(arm)
    assert [told[0::2].count(arm) for arm in range(3)] == [told[1::2].count(arm) for arm in range(3)] == [2, 2, 2]


def test_a_block_in_which_only_dropped_arms_are_left_is_used_up() -> None:
    left, out = np.array([0.0, 1.0, 0.0]), np.zeros(3)
    block_shares(left, 0, 2.0, np.array([0, 1, 0]), 3, out)
    assert out.tolist() == [0.5, 0.0, 0.5]


def test_exp3_divides_by_the_share_of_its_arm() -> None:
    policy = as_policy("exp3(gamma=0.1)").resolved(2, 100).assemble(TrialShape(2))
    state, memo, rng = policy.state, np.zeros(policy.memo_size), stream(3, 0)
    out = np.zeros(probabilities_size(2))
    named = state_of(policy.rule, state), memo_of(policy.rule, memo)
    stated_shares(policy.rule, *named, 7, out, rng)
    assert out[:2].tolist() == [0.5, 0.5]
    out[:2] = 0.25, 0.75
    with np.errstate(over="ignore"):
        chosen = allocate(policy.rule, *named, 7, out, rng)
    assert chosen == int(uniforms(stream(3, 0)[None, :2], np.array([7]), CHOOSE)[0, 0] >= 0.25)
    assert memo.tolist() == [0.25, 0.75]
