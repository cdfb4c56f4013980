"""Whether the probabilities by which a design's arms are drawn are known exactly, as any-time valid methods need."""

from __future__ import annotations

from adhere.design.design import Design
from adhere.design.planned_looks import burn_in_of
from adhere.policies import as_policy


def why_not_exact(design: Design) -> str:
    """Why the probabilities of a design's decisions are estimated by drawing; empty if they are exact.

    Those that are prescribed are exact whatever the policy: arms are drawn by the very numbers.
    """
    policy = as_policy(design.policy)
    is_prescribed = design.update == "at looks" and burn_in_of(design).patients == 0
    if is_prescribed or not policy.estimates_probabilities:
        return ""
    learner = next(one for one in policy.learners() if one.estimates_probabilities)
    return f"{learner.name} has no `probabilities`, so that they would be estimated by drawing"
