"""The populations of the contract's tests: the one that users' policies are checked on, with other rewards."""

from __future__ import annotations

from adhere.contract.patients import GRADED as GRADED
from adhere.contract.patients import mixed as mixed

from .policies_under_test import recycles

BINARY = (0.0, 1.0)


def graded_rewards(policy: str) -> tuple[float, ...]:
    """Rewards, one of them fractional, with which a policy shares its compiled code with those of other tests.

    A policy that recycles is compiled for each number of different rewards, and most tests have two.
    """
    return GRADED[1:] if recycles(policy) else GRADED
