"""The compiled steps of a live trial: choose an arm, draw one by prescribed shares, learn from some updates."""

from __future__ import annotations

from typing import Any

from adhere.compilation import Kernel, memo_of, state_of
from adhere.policies.base.generic import choose, note_allocation, remember, replay_choice, update
from adhere.randomness import CHOOSE, ESTIMATE, LEARN, LEARN_LATE, point
from adhere.trial.policy.allocation import allocate
from adhere.trial.policy.updates import CHOICE


def choose_arm(rule: Any, state: Any, memo: Any, rng: Any, recommendation_index: int) -> int:
    """Write the memo and choose an arm; then turn the stream to where probabilities are estimated."""
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
    """Learn from updates in order; `done` counts them, so that the one at which a policy fails is known."""
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
