"""Generic functions that compiled code specialises by the type of their first argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numba.extending import overload, register_jitable

AnyFunction = Callable[..., Any]
Function = TypeVar("Function", bound=AnyFunction)
# These functions are never called from C. Inlining small ones makes a kernel up to twice as fast; inlining large
# ones makes it large, and slow to compile.
_CALLED = {"no_cfunc_wrapper": True}
_INLINED = {**_CALLED, "forceinline": True}
_implemented: dict[AnyFunction, dict[type, AnyFunction]] = {}


def inline(function: Function) -> Function:
    """Let compiled code use a plain function, as if its lines stood there."""
    register_jitable(**_INLINED)(function)
    return function


def no_inline(function: Function) -> Function:
    """Let compiled code call a plain function that is large or seldom needed."""
    register_jitable(**_CALLED)(function)
    return function


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


def specialise(generic: AnyFunction, pick: AnyFunction, target: str = "generic", inlined: bool = True) -> None:
    """Let `pick` say, from the types of the arguments, which function compiled code runs for `generic`.

    With the target "cpu", on processors only.
    """
    overload(generic, target=target, strict=False, jit_options=_INLINED if inlined else _CALLED)(pick)


def implements(generic: AnyFunction, owner: type, inlined: bool = True) -> Callable[[Function], Function]:
    """Register the decorated function as `generic`'s implementation for a class of rules or of policies.

    That for `object` is the default of rules without one of their own. The first one says whether all are inlined.
    """
    if generic not in _implemented:
        _implemented[generic] = {}

        def pick(rule: Any, *_: Any) -> AnyFunction | None:
            return implementation(generic, getattr(rule, "instance_class", type(None)))

        specialise(generic, pick, inlined=inlined)

    def register(function: Function) -> Function:
        _implemented[generic][getattr(owner, "rule_class", owner)] = function
        return function

    return register


def implementation(generic: AnyFunction, rule_class: type) -> AnyFunction | None:
    """A generic function's implementation for a class of rules, or its default, if there is one."""
    known = _implemented.get(generic, {})
    return known.get(rule_class, known.get(object))


def implementations_of(rule_class: type) -> dict[str, AnyFunction]:
    """Every function that implements something for a class of rules, by the name of what it implements."""
    return {generic.__name__: known[rule_class] for generic, known in _implemented.items() if rule_class in known}
