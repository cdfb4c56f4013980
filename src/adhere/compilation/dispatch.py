"""Generic functions that compiled code specialises by the type of their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import overload, register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])
# Small functions disappear into the kernel; wrappers to call each of them from C would only cost time.
_OPTIONS = {"forceinline": True, "no_cfunc_wrapper": True}
_implemented: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


def helper(function: Function) -> Function:
    """Let compiled code call a plain function."""
    register_jitable(**_OPTIONS)(function)
    return function


def specialise(generic: Callable[..., Any], pick: Callable[..., Any]) -> None:
    """Let `pick` say, from the types of the arguments, which function compiled code runs for `generic`."""
    overload(generic, target="generic", strict=False, jit_options=_OPTIONS)(pick)


def implements(generic: Callable[..., Any], owner: type) -> Callable[[Function], Function]:
    """Register the decorated function as `generic`'s implementation for a class of rules or of policies."""
    if generic not in _implemented:
        known = _implemented[generic] = {}
        specialise(generic, lambda rule, *_: known.get(getattr(rule, "instance_class", type(None))))

    def register(function: Function) -> Function:
        _implemented[generic][getattr(owner, "rule_class", owner)] = function
        return function

    return register


def is_implemented(generic: Callable[..., Any], rule_class: type) -> bool:
    """Whether a class of rules has its own implementation of a generic function."""
    return rule_class in _implemented.get(generic, {})
