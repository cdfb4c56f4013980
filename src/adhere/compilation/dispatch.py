"""Generic functions that compiled code specialises by the type of their first argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numba.extending import overload, register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])
# These functions are never called from C. Inlining small ones makes a kernel up to twice as fast; inlining large
# ones makes it large, and slow to compile.
_CALLED = {"no_cfunc_wrapper": True}
_INLINED = {**_CALLED, "forceinline": True}
_not_inlined: set[Callable[..., Any]] = set()
_implemented: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


def inline(function: Function) -> Function:
    """Let compiled code use a plain function, as if its lines stood there."""
    register_jitable(**_INLINED)(function)
    return function


def no_inline(function: Function) -> Function:
    """Let compiled code call a plain function that is large or seldom needed."""
    register_jitable(**_CALLED)(function)
    return function


def implementations_not_inlined(generic: Function) -> Function:
    """Mark a generic function whose implementations are large or seldom needed."""
    _not_inlined.add(generic)
    return generic


def generic(function: Function) -> Function:
    """Mark a function that is specialised by its first argument, in compiled code and when Python calls it."""

    @wraps(function)
    def dispatch(rule: Any, *arguments: Any) -> Any:
        own = implementation(dispatch, type(rule))
        if own is None:
            raise TypeError(f"{function.__name__} is not implemented for {rule!r}")
        return own(rule, *arguments)

    return cast(Function, dispatch)


def generic_with_default(function: Function) -> Function:
    """As `generic`; what is written in the function's body is run for rules without an implementation."""
    dispatch = generic(function)
    implements(dispatch, object)(function)
    return dispatch


def specialise(generic: Callable[..., Any], pick: Callable[..., Any], target: str = "generic") -> None:
    """Let `pick` say, from the types of the arguments, which function compiled code runs for `generic`.

    With the target "cpu", on processors only.
    """
    options = _CALLED if generic in _not_inlined else _INLINED
    overload(generic, target=target, strict=False, jit_options=options)(pick)


def implements(generic: Callable[..., Any], owner: type) -> Callable[[Function], Function]:
    """Register the decorated function as `generic`'s implementation for a class of rules or of policies.

    That for `object` is the default of rules without one of their own.
    """
    if generic not in _implemented:
        _implemented[generic] = {}
        specialise(generic, lambda rule, *_: implementation(generic, getattr(rule, "instance_class", type(None))))

    def register(function: Function) -> Function:
        _implemented[generic][getattr(owner, "rule_class", owner)] = function
        return function

    return register


def implementation(generic: Callable[..., Any], rule_class: type) -> Callable[..., Any] | None:
    """A generic function's implementation for a class of rules, or its default, if there is one."""
    known = _implemented.get(generic, {})
    return known.get(rule_class, known.get(object))
