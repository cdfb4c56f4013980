"""The two compiled steps of a single trial: decide, and learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere.compilation import Kernel, memo_of, state_of
from adhere.policies.beta import work_size
from adhere.policies.generic import choose, probabilities, remember, replay_choice, update
from adhere.policies.policy import MAX_DEPTH
from adhere.randomness import CHOOSE, ESTIMATE, LEARN, LEARN_LATE, point


def decide(rule: Any, state: Any, memo: Any, rng: Any, decision: int) -> int:
    """Write the memo and choose an arm."""
    named_state, named_memo = state_of(rule, state), memo_of(rule, memo)
    remember(rule, named_state, named_memo)
    point(rng, decision, CHOOSE)
    return choose(rule, named_state, named_memo, 1.0, rng)


def chances(rule: Any, state: Any, memo: Any, rng: Any, decision: int) -> list[float]:
    """The chance each arm had at a decision, from the state before it and its memo."""
    point(rng, decision, ESTIMATE)
    # Policies nested in each other work out their chances in consecutive places, at most two for each.
    out = np.zeros(2 * (MAX_DEPTH + 1) * rule.n_arms + work_size(rule.n_arms))
    probabilities(rule, state_of(rule, state), memo_of(rule, memo), 1.0, out, rng)
    return [min(1.0, max(0.0, float(chance))) for chance in out[: rule.n_arms]]  # rounding may pass 1


def take_lesson(
    rule: Any, state: Any, memo: Any, rng: Any, decision: int, chosen: int, feedback: int, reward: float
) -> None:
    """Learn from what was reported on one decision."""
    point(rng, decision, LEARN if feedback <= rule.n_arms else LEARN_LATE)
    update(rule, state_of(rule, state), memo_of(rule, memo), chosen, feedback, reward, 1.0, rng)


def decide_again(rule: Any, state: Any, memo: Any, rng: Any, decision: int) -> None:
    """Change the state as a decision did whose memo is known."""
    point(rng, decision, CHOOSE)
    replay_choice(rule, state_of(rule, state), memo_of(rule, memo), rng)


DECIDE = Kernel(decide)
DECIDE_AGAIN = Kernel(decide_again)
TAKE_LESSON = Kernel(take_lesson)
