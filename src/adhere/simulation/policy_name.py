"""What a policy is called, whether it is compiled or a plain object."""

from __future__ import annotations

from adhere.policies import Policy


def name_of(policy: object) -> str:
    """What a result calls a policy."""
    return str(policy) if isinstance(policy, Policy) else str(getattr(policy, "name", type(policy).__name__))
