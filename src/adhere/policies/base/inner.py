"""The field of a policy that holds another policy."""

from __future__ import annotations

from typing import Any

from adhere.errors import InputError
from adhere.policies.base.policy import MAX_DEPTH, Policy


def any_policy(example: str) -> dict[str, Any]:
    """What a field for any policy is: checked, and written without its name, `floor(thompson)`."""

    def check(name: str, value: object) -> Policy:
        if not isinstance(value, Policy):
            raise InputError(name, value, f"a policy, e.g. {example}")
        if value.depth >= MAX_DEPTH:
            raise InputError(name, str(value), f"at most {MAX_DEPTH} policies inside each other")
        return value

    return {"check": check, "bare": True, "is_policy": True}
