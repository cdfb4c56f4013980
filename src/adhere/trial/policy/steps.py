"""Compiled steps of a live trial: choose an arm, draw one by prescribed shares, and learn from updates.

The design may prescribe the probabilities of the arms ("shares"). They come from a block of the patient's stratum,
from the policy's probabilities at the last look, or from its current probabilities of the remaining arms. Live and
simulated trials run these same functions, which allocate no memory.
"""

from typing import Any

from adhere.compilation import Kernel, generic_with_default, implements, inline, memo_of, state_of
from adhere.policies.base.generic import (
    Floats,
    Rule,
    choose,
    note_allocation,
    probabilities,
    remember,
    remember_guarded,
    replay_choice,
    update,
)
from adhere.policies.guards.burn_in import BurnInRule
from adhere.policies.guards.dropped_arms import probabilities_left
from adhere.policies.guards.floor import FloorRule
from adhere.policies.guards.permuted_blocks import arm_by_shares
from adhere.randomness import CHOOSE, ESTIMATE, LEARN, LEARN_LATE, Stream, point, uniform
from adhere.trial.policy.updates import CHOICE


@inline
def allocate(rule: Rule, state: Any, memo: Any, number: int, shares: Any, rng: Stream) -> int:
    """Draw a recommendation's arm by shares, and write its memo.

    The policy treats the draw as the decision of a guard around it. Its learners learn by their protocol, with weight
    1. A learner that divides by the probability of an arm divides by the arm's share.
    """
    remember(rule, state, memo)
    point(rng, number, CHOOSE)
    arm = draw_by_shares(shares, rule.n_arms, rng)
    remember_guarded(rule, state, memo, shares, 0.0, rng)
    return arm


@inline
def draw_by_shares(shares: Any, n_arms: int, rng: Stream) -> int:
    """Draw an arm by shares with the next random number."""
    return arm_by_shares(uniform(rng), shares, n_arms)


@inline
def stated_shares(rule: Rule, state: Any, memo: Any, number: int, dropped: Any, out: Any, rng: Stream) -> None:
    """Write the policy's probabilities of the remaining arms at a recommendation into `out`.

    `out` has the length `probabilities_size`.
    """
    remember(rule, state, memo)
    point(rng, number, ESTIMATE)
    n_dropped = 0
    for arm in range(rule.n_arms):
        n_dropped += 1 if dropped[arm] else 0
    if n_dropped > 0:
        probabilities_left(rule, state, memo, dropped, out, rng)
    else:
        probabilities(rule, state, memo, 1.0, out, rng)
    for arm in range(rule.n_arms):  # rounding may pass 1
        out[arm] = min(1.0, max(0.0, out[arm]))


@generic_with_default
def write_beliefs(rule: Rule, state: Any, memo: Any, out: Floats, rng: Stream) -> None:
    """Write each arm's probability of being best into `out` (length `probabilities_size`). The memo is
    overwritten.
    """
    remember(rule, state, memo)
    probabilities(rule, state, memo, 1.0, out, rng)


def write_beliefs_inside(rule: Rule, state: Any, memo: Any, out: Floats, rng: Stream) -> None:
    """Write the beliefs of the policy inside a guard."""
    write_beliefs(rule.inner, state.inner, memo.inner, out, rng)


implements(write_beliefs, BurnInRule)(write_beliefs_inside)
implements(write_beliefs, FloorRule)(write_beliefs_inside)


def choose_arm(rule: Any, state: Any, memo: Any, rng: Any, recommendation_index: int) -> int:
    """Write the memo and choose an arm. Then move the stream to the point at which probabilities are estimated."""
    named_state, named_memo = state_of(rule, state), memo_of(rule, memo)
    remember(rule, named_state, named_memo)
    point(rng, recommendation_index, CHOOSE)
    chosen = choose(rule, named_state, named_memo, 1.0, rng)
    point(rng, recommendation_index, ESTIMATE)
    return chosen


def allocate_arm(rule: Any, state: Any, memo: Any, rng: Any, recommendation_index: int, shares: Any) -> int:
    """Draw an arm by shares that the design prescribes, and write the memo."""
    return allocate(rule, state_of(rule, state), memo_of(rule, memo), recommendation_index, shares, rng)


def learn_updates(rule: Any, state: Any, memo: Any, rng: Any, facts: Any, values: Any, done: Any) -> None:
    """Learn from updates in order. `done` counts the learned updates, so that a failing update can be located."""
    named_state, named_memo = state_of(rule, state), memo_of(rule, memo)
    for row in range(facts.shape[0]):
        recommendation_index, chosen, feedback = facts[row, 0], facts[row, 1], facts[row, 2]
        for i in range(memo.size):
            memo[i] = values[row, 1 + i] if i + 1 < values.shape[1] else 0.0
        if feedback == CHOICE:
            point(rng, recommendation_index, CHOOSE)
            replay_choice(rule, named_state, named_memo, rng)
            note_allocation(rule, named_state, chosen, rng)
        else:
            point(rng, recommendation_index, LEARN if feedback <= rule.n_arms else LEARN_LATE)
            update(rule, named_state, named_memo, chosen, feedback, values[row, 0], 1.0, rng)
        done[0] += 1


CHOOSE_ARM = Kernel(choose_arm)
ALLOCATE_ARM = Kernel(allocate_arm)
LEARN_UPDATES = Kernel(learn_updates)
