"""Checks of what a hybrid is made of."""

from __future__ import annotations

from adhere.errors import InputError
from adhere.policies.experts import MAX_EXPERTS
from adhere.policies.policy import MAX_DEPTH, Learner, Policy
from adhere.protocols import CHOSEN


def _shown(value: object) -> object:
    return str(value) if isinstance(value, Policy) else value


def check_base(name: str, value: object) -> Learner | None:
    """The learner that a hierarchy runs under several protocols."""
    if value is not None and not (isinstance(value, Learner) and value.protocol == CHOSEN):
        raise InputError(name, _shown(value), "a learner without a protocol: the hierarchy runs it under all three")
    return value


def check_top(name: str, value: object) -> Learner:
    """The learner that draws experts."""
    if not (isinstance(value, Learner) and value.protocol == CHOSEN):
        raise InputError(name, _shown(value), "a learner without a protocol: nobody disobeys the top")
    return value


def check_experts(name: str, value: object) -> tuple[Learner, ...] | None:
    """The experts of a hierarchy."""
    if value is None:
        return None
    experts = tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(experts) < 2:
        raise InputError(name, value, "a list of at least two learners")
    if len(experts) > MAX_EXPERTS:
        raise InputError(name, f"{len(experts)} learners", f"at most {MAX_EXPERTS}")
    for expert in experts:
        if not isinstance(expert, Learner):
            raise InputError(name, str(expert), "a list of learners; a hybrid cannot be an expert")
    return experts


def check_inner(name: str, value: object) -> Policy:
    """The policy inside ThompsonBounded."""
    if not isinstance(value, Policy):
        raise InputError(name, value, "a policy, e.g. thompson-bounded(hierarchical(thompson))")
    if value.depth >= MAX_DEPTH:
        raise InputError(name, str(value), f"at most {MAX_DEPTH} policies inside each other")
    return value
