"""The two compiled steps of a single trial: decide, and learn."""

from __future__ import annotations

from typing import Any

from adhere.compilation import Kernel
from adhere.policies.generic import choose, probabilities, remember, update
from adhere.randomness import CHOOSE, ESTIMATE, LEARN, LEARN_LATE, point


def decide(rule: Any, state: Any, memo: Any, chances: Any, rng: Any, decision: int) -> int:
    """Write the memo and the chances of each arm; choose one."""
    remember(rule, state, memo)
    point(rng, decision, ESTIMATE)
    probabilities(rule, state, memo, 1.0, chances, rng)
    # Working out the chances may have used the memo's spare places, never what it remembers.
    point(rng, decision, CHOOSE)
    return choose(rule, state, memo, 1.0, rng)


def take_lesson(
    rule: Any, state: Any, memo: Any, rng: Any, decision: int, chosen: int, feedback: int, reward: float
) -> None:
    """Learn from what was reported on one decision."""
    point(rng, decision, LEARN if feedback <= rule.n_arms else LEARN_LATE)
    update(rule, state, memo, chosen, feedback, reward, 1.0, rng)


DECIDE = Kernel(decide, allocates=True)  # to mix the chances of a hybrid's parts
TAKE_LESSON = Kernel(take_lesson)
