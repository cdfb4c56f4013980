"""Compile a policy's steps before they are needed: at the first patient it would keep everybody waiting."""

from __future__ import annotations

from adhere.trial.design import Design


def warm(design: Design) -> None:
    """Take a decision and a lesson by a design's policy, and forget them."""
    engine = design.engine()
    try:
        made = engine.decide(engine.first_state, 0)
    except Exception:  # a policy that fails will do so at each patient, and be told of then
        return
    engine.learn(made.state, 0, made.memo, made.chosen, made.chosen, design.reward_values[0])
