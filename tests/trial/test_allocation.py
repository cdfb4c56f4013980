"""Drawing an arm by shares that the design prescribes."""

from __future__ import annotations

import numpy as np
import pytest

from adhere.compilation import memo_of, state_of
from adhere.policies import as_policy
from adhere.policies.base.policy import TrialShape, probabilities_size
from adhere.policies.guards.dropped_arms import shares_left
from adhere.randomness import CHOOSE, stream, uniforms
from adhere.trial.policy.steps import allocate, draw_by_shares, stated_shares

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


def test_exp3_divides_by_the_share_of_its_arm() -> None:
    policy = as_policy("exp3(gamma=0.1)").resolved(2, 100).assemble(TrialShape(2))
    state, memo, rng = policy.state, np.zeros(policy.memo_size), stream(3, 0)
    out = np.zeros(probabilities_size(2))
    named = state_of(policy.rule, state), memo_of(policy.rule, memo)
    stated_shares(policy.rule, *named, 7, ALL, out, rng)
    assert out[:2].tolist() == [0.5, 0.5]
    out[:2] = 0.25, 0.75
    with np.errstate(over="ignore"):
        chosen = allocate(policy.rule, *named, 7, out, rng)
    assert chosen == int(uniforms(stream(3, 0)[None, :2], np.array([7]), CHOOSE)[0, 0] >= 0.25)
    assert memo.tolist() == [0.25, 0.75]


def left_of(text: str, dropped: int, number: int = 0) -> list[float]:
    """The shares of three arms, of which one was dropped, after 20 successes and 5, 10 and 15 failures."""
    policy = as_policy(text).resolved(3, 100).assemble(TrialShape(3))
    floats, memo, rng = policy.state, np.zeros(policy.memo_size + policy.scratch_size), stream(3, 0)
    state = inner = state_of(policy.rule, floats)
    while hasattr(inner, "inner"):
        inner = inner.inner
    inner.successes[:], inner.failures[:] = 20.0, (5.0, 10.0, 15.0)
    before, out = floats.tolist(), np.zeros(probabilities_size(3))
    stated_shares(policy.rule, state, memo_of(policy.rule, memo), number, np.arange(3) == dropped, out, rng)
    assert floats.tolist() == before
    assert out[:3].sum() == pytest.approx(1.0)
    return [float(one) for one in out[:3]]


def test_the_best_of_the_arms_left_is_judged_without_the_others() -> None:
    draws = np.random.default_rng(1)
    second, third = draws.beta(20, 10, 400_000), draws.beta(20, 15, 400_000)
    assert left_of("thompson", 0) == pytest.approx([0.0, (second > third).mean(), (third > second).mean()], abs=0.003)


def test_a_floor_keeps_its_promise_to_the_arms_that_are_left() -> None:
    own = left_of("thompson", 1)
    assert own[2] < 0.1
    assert left_of("floor(thompson, share=0.2, rule=clip)", 1) == pytest.approx([0.8, 0.0, 0.2])
    mixed = [0.2 + 0.6 * own[0], 0.0, 0.2 + 0.6 * own[2]]
    assert left_of("floor(thompson, share=0.2)", 1) == pytest.approx(mixed)
    guarded = "burn-in(floor(thompson, share=0.2), patients=6, block=6)"
    assert left_of(guarded, 1, number=6) == pytest.approx(mixed)
    assert left_of(guarded, 1, number=0) == pytest.approx([0.5, 0.0, 0.5])
