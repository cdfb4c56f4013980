"""Burn-in: the first patients are randomised in permuted blocks."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any, NamedTuple, Self

import numpy as np

from adhere.compilation import Memo, State, implements, inline, laid_out, unlikely
from adhere.errors import InputError
from adhere.policies.declaration import policy
from adhere.policies.generic import Rule, choose, remember_shares
from adhere.policies.guard import (
    GUARDED,
    INNER,
    Guard,
    GuardMemo,
    GuardState,
    guard_uniform,
    prepare_shares,
    prepare_shares_from,
)
from adhere.policies.inner import any_policy
from adhere.policies.parameters import parameter
from adhere.policies.policy import Policy
from adhere.randomness import Stream, recommendation_number


@laid_out(state=GuardState, memo=GuardMemo)
class BurnInRule(NamedTuple):
    """The compiled form of `BurnIn`."""

    inner: Rule
    n_arms: int
    nth: int  # how many guards are inside it
    patients: float  # as floats, so that code does not depend on them
    block: float


@policy("burn-in", rule=BurnInRule)
class BurnIn(Guard):
    """The first patients are randomised in permuted blocks, in which each of k arms comes equally often.

    The policy inside learns from them and decides for all who follow.

    Parameters
    ----------
    inner
        The policy that decides after the burn-in: a learner, a hybrid or another guard.
    patients
        How many patients the burn-in takes. A last block that does not fit is cut.
    block
        The length of a block, a multiple of k; unset, 2k.

    Notes
    -----
    With a floor too, put the burn-in outside, `burn-in(floor(…))`: a floor around it would decide some of its rounds,
    and blocks would no longer be balanced.

    The next arm of a block is drawn from what is left of it, so that arm j has the probability (number left of j) /
    (number left) given the block so far: this is what a live trial logs, and EXP3 divides by it. A draw is keyed by
    its recommendation's number, so that nothing of a block need be kept. All learners learn from these rounds by
    their protocols, with weight 1, and a hierarchy's top does not.

    References
    ----------
    Matts & Lachin (1988), "Properties of permuted-block randomization in clinical trials".

    Examples
    --------
    >>> from adhere import Thompson, Trial, simulate
    >>> str(BurnIn(Thompson(), patients=30))
    'burn-in(thompson, patients=30)'
    >>> trial = Trial("burn-in(floor(exp3(gamma=0.1)), patients=4)", ["placebo", "drug"], seed=1)
    >>> [trial.recommend().arm for _ in range(4)]
    ['drug', 'drug', 'placebo', 'placebo']
    >>> result = simulate("burn-in(floor(exp3))", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].experts["burn-in"].mean, 2)
    0.6

    """

    inner: Policy = field(default=None, metadata=any_policy("burn-in(thompson)"))  # type: ignore[assignment]
    patients: int = parameter(default=60, at_least=1, whole=True)
    block: int | None = parameter(default=None, at_least=1, at_most=1000, whole=True)

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """The policy inside and the block settled."""
        block = 2 * n_arms if self.block is None else self.block
        if block % n_arms:
            raise InputError("burn-in block", block, f"a multiple of the number of arms, {n_arms}")
        return dataclasses.replace(super().resolved(n_arms, horizon), block=block)

    def guard_rule(self, inner: Rule, n_arms: int, nth: int) -> BurnInRule:
        """The lengths of the burn-in and of a block."""
        assert self.block is not None  # resolved
        return BurnInRule(inner, n_arms, nth, float(self.patients), float(self.block))


@implements(choose, BurnIn)
def choose_burn_in(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """The next arm of the block, or after the burn-in that of the policy inside."""
    number = recommendation_number(rng)
    if unlikely(number < rule.patients):
        memo.decided = GUARDED
        n_left = count_left(rule, number, memo.shares, rng)
        arm = draw_from_block(rule, number, memo.shares, n_left, rng)
        for other in range(rule.n_arms):
            memo.shares[other] /= n_left
        remember_shares(rule.inner, state.inner, memo.inner, memo.shares, 0.0, rng)
    else:
        memo.decided = INNER
        arm = choose(rule.inner, state.inner, memo.inner, weight, rng)
    return arm


@implements(prepare_shares, BurnInRule)
def prepare_shares_of_burn_in(rule: Rule, state: State, memo: Memo, rng: Stream) -> float:
    """The probabilities of the policy inside do not matter."""
    return prepare_shares_from(rule, memo, memo.shares, rng)


@implements(prepare_shares_from, BurnInRule)
def prepare_shares_of_burn_in_from(rule: Rule, memo: Memo, of_inner: Any, rng: Stream) -> float:
    """What is left of the block, as probabilities; after the burn-in nothing, and all to the policy inside."""
    number = recommendation_number(rng)
    if number >= rule.patients:
        for arm in range(rule.n_arms):
            memo.shares[arm] = 0.0
        return 1.0
    n_left = count_left(rule, number, memo.shares, rng)
    for arm in range(rule.n_arms):
        memo.shares[arm] /= n_left
    return 0.0


@inline
def count_left(rule: Rule, number: Any, left: Any, rng: Stream) -> Any:
    """Write how often each arm is left in a recommendation's block; returns how many are left in all."""
    block = np.int64(rule.block)
    place = number % block
    for arm in range(rule.n_arms):
        left[arm] = block // rule.n_arms
    for before in range(place):
        left[draw_from_block(rule, number - place + before, left, block - before, rng)] -= 1.0
    return block - place


@inline
def draw_from_block(rule: Rule, number: Any, left: Any, n_left: Any, rng: Stream) -> int:
    """Draw one of the arms that are left, by the recommendation's own random number."""
    drawn, arm = np.int64(guard_uniform(rule, number, rng) * n_left), 0
    while drawn >= left[arm]:
        drawn -= np.int64(left[arm])
        arm += 1
    return arm
