"""Burn-in: the first patients are randomised in permuted blocks, whose lengths vary unless one length is given."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple, Self

from adhere.compilation import Memo, Part, State, implements, laid_out, unlikely
from adhere.errors import InputError
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Rule, choose, remember_guarded
from adhere.policies.base.parameters import any_policy, parameter
from adhere.policies.base.policy import Policy
from adhere.policies.guards.guard import (
    GUARDED,
    INNER,
    Guard,
    GuardMemo,
    GuardState,
    guard_uniform,
    note_own_allocation,
    prepare_shares,
    prepare_shares_from,
)
from adhere.policies.guards.permuted_blocks import (
    BlockRule,
    arm_by_shares,
    block_lengths,
    block_rule,
    take_place,
    write_block_shares,
)
from adhere.randomness import Stream, recommendation_number


class BurnInState(GuardState):
    """The current block, and the state of the policy inside."""

    blocks = Part()


@laid_out(state=BurnInState, memo=GuardMemo)
class BurnInRule(NamedTuple):
    """The compiled form of `BurnIn`."""

    inner: Rule
    n_arms: int
    nth: int  # number of guards inside it
    patients: float  # a float, so that the compiled code does not depend on its value
    blocks: BlockRule


@policy("burn-in", rule=BurnInRule)
class BurnIn(Guard):
    """Randomise the first patients in permuted blocks, in which each of k arms occurs equally often.

    The inner policy learns from these patients, and decides for all later patients.

    Parameters
    ----------
    inner : Policy
        Policy that decides after the burn-in: a learner, a hybrid or another guard.
    patients : int, default 60
        Number of patients in the burn-in. If the last block does not fit, it is cut.
    block : int, optional
        Length of every block, a multiple of the number of arms k. By default, lengths vary among 2k, 3k and 4k.

    See Also
    --------
    Floor : Keep a minimum probability of every arm.
    Uniform : Randomise every patient.

    Notes
    -----
    If all blocks have one length L, anyone who sees all arms of a block can predict its last arms: 1 in L - L/k + 1
    arms, which is a third of all arms for two arms and blocks of 4. With varying lengths it is about 1 arm in 40.

    The lengths 2k, 3k and 4k are equally likely, but no length is drawn. The next arm is drawn with its probability
    given the arms so far, averaged over the lengths that are still possible (see `policies.permuted_blocks`). A live
    trial logs this probability, and EXP3 divides by it. With one length it is the number of places left for the arm,
    divided by the number of places left in the block.

    Every arm of the burn-in counts in its block, whoever drew it, except an arm that was drawn because the policy
    failed. All learners learn from these rounds by their protocols with weight 1. The top of a hierarchy does not
    learn from them.

    To combine a burn-in with a floor, put the burn-in outside: `burn-in(floor(…))`. A floor around a burn-in would
    decide some of its rounds, and the blocks would no longer be balanced.

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

    algorithm_version: ClassVar[int] = 2

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """Check that the block fits the number of arms, then resolve the policy inside."""
        if self.block is not None and self.block % n_arms:
            raise InputError("burn-in block", self.block, f"a multiple of the number of arms, {n_arms}")
        return super().resolved(n_arms, horizon)

    def guard_rule(self, inner: Rule, n_arms: int, nth: int) -> BurnInRule:
        """Return the rule with the lengths of the burn-in and of its blocks."""
        blocks = block_rule(n_arms, block_lengths(n_arms, self.block))
        return BurnInRule(inner, n_arms, nth, float(self.patients), blocks)


@implements(choose, BurnIn)
def choose_burn_in(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Draw the next arm of the block; after the burn-in, let the policy inside choose."""
    number = recommendation_number(rng)
    if unlikely(number < rule.patients):
        memo.decided = GUARDED
        write_block_shares(rule.blocks, state.blocks, memo.shares)
        arm = arm_by_shares(guard_uniform(rule, number, rng), memo.shares, rule.n_arms)
        remember_guarded(rule.inner, state.inner, memo.inner, memo.shares, 0.0, rng)
    else:
        memo.decided = INNER
        arm = choose(rule.inner, state.inner, memo.inner, weight, rng)
    return arm


@implements(note_own_allocation, BurnInRule)
def note_allocation_in_burn_in(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Count an arm of the burn-in in its block."""
    if unlikely(recommendation_number(rng) < rule.patients):
        take_place(rule.blocks, state.blocks, arm)


@implements(prepare_shares, BurnInRule)
def prepare_shares_of_burn_in(rule: Rule, state: State, memo: Memo, rng: Stream) -> float:
    """Write the shares without computing the probabilities of the policy inside, on which they do not depend."""
    return prepare_shares_from(rule, state, memo, memo.shares, rng)


@implements(prepare_shares_from, BurnInRule)
def prepare_shares_of_burn_in_from(rule: Rule, state: State, memo: Memo, of_inner: Any, rng: Stream) -> float:
    """Write the block's probabilities. After the burn-in, write zeros and leave the round to the policy inside."""
    if recommendation_number(rng) >= rule.patients:
        for arm in range(rule.n_arms):
            memo.shares[arm] = 0.0
        return 1.0
    write_block_shares(rule.blocks, state.blocks, memo.shares)
    return 0.0
