"""Every declared policy by name."""

from __future__ import annotations

from typing import Any

from adhere.errors import InputError, nearest

registry: dict[str, type[Any]] = {}
_FULL_INFORMATION = ("hedge", "hierarchical-hedge", "hierarchicalhedge")


def lookup(name: str) -> type[Any]:
    """The class of a policy, or an error that suggests the nearest name."""
    if name in registry:
        return registry[name]
    if name in _FULL_INFORMATION:
        expected = "a policy; this needs the losses of all arms (see adhere.hedge, adhere.hierarchical_hedge)"
        raise InputError("policy", name, expected)
    expected = nearest(name, sorted(registry), complete=True)
    own = "" if "did you mean" in expected else "; a policy of your own must be imported first (--import FILE.py)"
    raise InputError("policy", name, expected + own)
