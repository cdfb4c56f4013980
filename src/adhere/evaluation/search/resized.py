"""The same design with another number of patients: what is counted in patients keeps its share of the trial."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import msgspec

from adhere.design.design import Design
from adhere.design.parts import Looks
from adhere.errors import InputError
from adhere.policies import BurnIn, Policy, parse_policy
from adhere.policies.guards.guard import Guard


def resized(design: Design, n_patients: int) -> Design:
    """A design with so many patients, as many looks as before, and a burn-in of the same share.

    Looks by day keep their share of the time it takes to enrol all patients.

    >>> small = Design("a", "burn-in(thompson, patients=20)", ("x", "y"), n_patients=200, looks=Looks(at=(50, 100)))
    >>> large = resized(small, 300)
    >>> large.n_patients, large.looks.at, large.policy
    (300, (75, 150), 'burn-in(thompson, patients=30)')
    """
    if design.n_patients is None:
        raise InputError("n_patients", None, "a number of patients to begin with")
    if design.enrolment.days:
        sentence = "enrolment.days: a design with a day for each patient has no other size; give per_day instead"
        raise InputError("enrolment.days", design.enrolment.days, "per_day", sentence)
    factor = n_patients / design.n_patients
    looks = Looks(
        at=tuple(round(factor * number) for number in design.looks.at),
        every=None if design.looks.every is None else _at_least_one(factor * design.looks.every),
        days=tuple(factor * day for day in design.looks.days),
    )
    policy = str(_scaled(parse_policy(design.policy), factor))
    return msgspec.structs.replace(design, n_patients=n_patients, looks=looks, policy=policy)


def smallest_size(design: Design) -> int:
    """The fewest patients with which a resized design still has all its looks, each at a number of its own."""
    counts = [0, *design.looks.at, design.n_patients or 0]
    steps = [later - earlier for earlier, later in pairwise(counts) if later > earlier]
    if design.looks.every is not None:
        steps.append(design.looks.every)
    return max(10 * len(design.arms), -(-2 * (design.n_patients or 0) // min(steps)))


def _scaled(policy: Policy, factor: float) -> Policy:
    """A policy whose burn-in, if it has one, is longer by a factor."""
    if not isinstance(policy, Guard):
        return policy
    inner = _scaled(policy.inner, factor)
    if isinstance(policy, BurnIn):
        return dataclasses.replace(policy, inner=inner, patients=_at_least_one(factor * policy.patients))
    return dataclasses.replace(policy, inner=inner)


def _at_least_one(number: float) -> int:
    return max(1, round(number))
