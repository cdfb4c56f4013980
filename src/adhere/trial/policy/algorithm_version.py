"""The version of the algorithms by which a policy recommends; raised when a random key gives another arm."""

from __future__ import annotations

from typing import Any

from adhere.compilation import classes_of
from adhere.compilation.sources import noted_digest
from adhere.policies.base.policy import Policy
from adhere.policies.base.registry import registry
from adhere.randomness import STREAM_VERSION


def _version_of(policy: type[Policy]) -> str:
    """The version of a policy; of a user's own also what its file held, since any edit may change what it does."""
    own = policy.__module__.partition(".")[0] != "adhere"
    contents = noted_digest(policy.__module__) if own else None
    return f"{policy.algorithm_version}+{contents[:8]}" if contents else str(policy.algorithm_version)


def algorithm_version(policy: Policy, rule: Any) -> str:
    """The versions of all algorithms that turn a random key into an arm."""
    # A hybrid may use learners that its text does not name.
    classes = classes_of(rule)
    used = {name: cls for name, cls in registry.items() if getattr(cls, "rule_class", None) in classes}
    used |= {part.name: type(part) for part in policy.parts()}
    versions = {name: _version_of(cls) for name, cls in used.items()}
    return " ".join([*(f"{name}:{versions[name]}" for name in sorted(versions)), f"randomness:{STREAM_VERSION}"])
