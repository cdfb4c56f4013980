"""The oracle's twin of any policy, made from the policy itself: there is no second table of policies to keep.

What is learned by whom is the oracle's; where a number becomes an arm, `stream_oracle` does as the engine does.
"""

from __future__ import annotations

import math
from typing import Any

import oracle
from adhere import parse_policy
from adhere.policies import (
    BurnIn,
    Floor,
    HacUcb,
    HierarchicalBandit,
    HierarchicalExp3,
    Learner,
    MediatedThompson,
    Policy,
    ThompsonBounded,
)
from adhere.policies.base.policy import parameters_of

from . import stream_oracle as stream


def twin_of(text: str, n_arms: int, horizon: int) -> oracle.Policy:
    """A policy that has learned nothing yet."""
    return _twin(parse_policy(text), n_arms, horizon, certified=True)


def _twin(policy: Policy, k: int, horizon: int, certified: bool) -> oracle.Policy:
    if isinstance(policy, Learner):
        return oracle.Plain(_learner(policy, k, horizon), _protocol(policy))
    if isinstance(policy, HacUcb):
        explore, delta = policy.explore or round(math.sqrt(horizon) / k + 1), policy.delta or 1 / horizon**2
        return oracle.HacUcb(k, explore, delta)
    if isinstance(policy, MediatedThompson):
        return oracle.Aware(stream.MediatedThompson(k, policy.odds, policy.fading_odds))
    if isinstance(policy, ThompsonBounded):
        inner = _twin(policy.inner, k, horizon, certified and policy.literal)
        return stream.ThompsonBounded(inner, policy.recycle, policy.literal)
    if isinstance(policy, Floor):
        inner = _twin(policy.inner, k, horizon, certified)
        return stream.Floor(inner, policy.share, policy.control, policy.rule == "clip")
    if isinstance(policy, BurnIn):
        return stream.BurnIn(_twin(policy.inner, k, horizon, certified), policy.patients, policy.block)
    if isinstance(policy, HierarchicalExp3):
        eta, rho = policy.eta or math.sqrt(2 * math.log(3) / (3 * horizon)), policy.rho
        return oracle.HierarchicalExp3(k, eta, rho or math.sqrt(2 * math.log(k) / (k * horizon)))
    if not isinstance(policy, HierarchicalBandit):
        return _by_name(policy, k, horizon)  # type: ignore[no-any-return]
    *own, top = policy.learners()
    assert isinstance(top, Learner)
    # Only certified experts that do not recycle are weighted, and draw as weights need it.
    weighted = certified and not policy.recycle
    experts = [_expert(one, k, horizon, weighted) for one in own]
    return stream.hierarchical(experts, _learner(top, len(experts), horizon), policy.recycle)


def _expert(
    policy: Policy, k: int, horizon: int, weighted: bool
) -> tuple[oracle.Learner, oracle.ProtocolLike | None]:
    if isinstance(policy, MediatedThompson):
        return stream.MediatedThompson(k, policy.odds, policy.fading_odds), None
    assert isinstance(policy, Learner)
    protocol = _protocol(policy)
    return _learner(policy, k, horizon, weighted and protocol == "chosen"), protocol


def _learner(policy: Learner, k: int, horizon: int, weighted: bool = False) -> oracle.Learner:
    if policy.name in ("thompson", "base-thompson"):
        return stream.Thompson(k) if weighted else stream.UnitThompson(k)
    if policy.name == "exp3":
        gamma = getattr(policy, "gamma", None)
        return oracle.Exp3(k, oracle.default_gamma(k, horizon) if gamma is None else gamma)
    return _by_name(policy, k, horizon)  # type: ignore[no-any-return]


def _by_name(policy: Policy, k: int, horizon: int) -> Any:
    """The class of the same name, with the policy's own parameters, settled for the trial."""
    name = type(policy).__name__
    cls = getattr(stream, name, None) or oracle.class_called(name)
    assert cls is not None, f"{policy} has no twin in the oracle"
    settled = policy.resolved(k, horizon)
    return cls(k, **{field: getattr(settled, field) for field in parameters_of(policy)})


def _protocol(learner: Learner) -> oracle.ProtocolLike:
    """Its name, or its table as it is written: the package's own tables are what is under test."""
    text = str(learner.protocol)
    if not text.startswith("credit["):
        return text
    rows = text.removeprefix("credit[").removesuffix("]").split(";")
    return [[None if arm == "-" else int(arm) for arm in row.split()] for row in rows]
