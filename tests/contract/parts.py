"""Which part of a policy's state belongs to whom, and so to which protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adhere import (
    ComplianceAwareLearner,
    HierarchicalBandit,
    HierarchicalExp3,
    Learner,
    Policy,
    Protocol,
    ThompsonBounded,
)
from adhere.policies.guards.guard import Guard
from adhere.protocols import ACTUAL, CHOSEN, COMPLY


def parts(policy: Policy, rule: Any, start: int, stop: int) -> Iterator[tuple[Protocol, slice]]:
    """Each stretch of state[start:stop] with the protocol it learns by; tops and caches need only the reward."""
    if isinstance(policy, Learner):
        yield policy.protocol, slice(start, stop)
    elif isinstance(policy, ComplianceAwareLearner):
        yield ACTUAL, slice(start, stop)  # it waits for both arms
    elif isinstance(policy, ThompsonBounded):
        inner, cache = (start + rule.State.offset(rule, name) for name in ("inner", "cache"))
        yield CHOSEN, slice(start, inner)
        yield from parts(policy.inner, rule.inner, inner, cache)
        yield CHOSEN, slice(cache, stop)
    elif isinstance(policy, Guard):
        yield from parts(policy.inner, rule.inner, start, stop)
    else:
        assert isinstance(policy, HierarchicalBandit | HierarchicalExp3)
        hierarchy = isinstance(policy, HierarchicalBandit)
        experts = [one.protocol for one in policy.learners()[:-1] if isinstance(one, Learner)]
        experts = experts if hierarchy else [CHOSEN, ACTUAL, COMPLY]
        top = rule.State.offset(rule, "experts") if hierarchy else 3
        strip = rule.State.fields["experts"].stride(rule) if hierarchy else rule.n_arms
        yield CHOSEN, slice(start, start + top)
        for nth, protocol in enumerate(experts):
            yield protocol, slice(start + top + strip * nth, start + top + strip * (nth + 1))
        yield CHOSEN, slice(start + top + strip * len(experts), stop)


def is_settled(protocol: Protocol, chosen: int, n_arms: int) -> bool:
    """Whether the credited arm is the same whatever was taken, so that the reward alone is an update."""
    return len(set(protocol.credits(n_arms)[chosen].tolist())) == 1
