"""Generic functions that compiled code specialises by the type of their first argument."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numba.extending import overload, register_jitable

from adhere.compilation.user_code import check_arguments, is_foreign, name_of, refusal

AnyFunction = Callable[..., Any]
Function = TypeVar("Function", bound=AnyFunction)
# These functions are never called from C. Inlining small ones makes a kernel up to twice as fast; inlining large
# ones makes it large, and slow to compile.
_CALLED = {"no_cfunc_wrapper": True}
_INLINED = {**_CALLED, "forceinline": True}
# A user's function that divides by 0 fails, like in Python. Our own guard against it, and loops go on with infinity.
_STRICT = {"error_model": "python"}
_implemented: dict[AnyFunction, dict[type, AnyFunction]] = {}
_settled: set[type] = set()


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

    _declare(dispatch)
    return cast(Function, dispatch)


def generic_with_default(function: Function) -> Function:
    """As `generic`; what is written in the function's body is run for rules without an implementation."""
    dispatch = generic(function)
    implements(dispatch, object)(function)
    return dispatch


def specialise(
    generic: AnyFunction, pick: AnyFunction, target: str = "generic", inlined: bool = True, strict: bool = False
) -> None:
    """Let `pick` say, from the types of the arguments, which function compiled code runs for `generic`.

    With the target "cpu", on processors only. A `strict` one fails where it divides by 0.
    """
    options = (_INLINED if inlined else _CALLED) | (_STRICT if strict else {})
    overload(generic, target=target, strict=False, jit_options=options)(pick)


def implements(generic: AnyFunction, owner: type, inlined: bool = True) -> Callable[[Function], Function]:
    """Register the decorated function as `generic`'s implementation for a class of rules or of policies.

    That for `object` is the default of rules without one of their own. The first one says whether all are inlined.
    What would never be run is refused; a class of policies says itself what it runs (`check_implementation`).
    """
    if owner is object and generic not in _implemented:
        _declare(generic, inlined)

    def register(function: Function) -> Function:
        rule_class = _checked(generic, owner, function)
        _implemented[generic][rule_class] = function
        return function

    return register


def _declare(generic: AnyFunction, inlined: bool = True) -> None:
    _implemented[generic] = {}

    def pick(rule: Any, *_: Any) -> AnyFunction | None:
        return implementation(generic, getattr(rule, "instance_class", type(None)))

    def pick_users(rule: Any, *_: Any) -> AnyFunction | None:
        own = pick(rule)
        return own if own is not None and is_foreign(own) else None

    specialise(generic, pick, inlined=inlined)
    specialise(generic, pick_users, target="cpu", inlined=inlined, strict=True)


def _checked(generic: AnyFunction, owner: Any, function: Any) -> Any:
    """The class of rules to implement a generic function for; raises an `InputError` if it would not be run."""
    if not callable(generic) or generic not in _implemented:
        raise refusal(function, name_of(generic), "a function that policies implement, such as choose or learn")
    what = f"{generic.__name__} of {name_of(owner)}"
    rule_class = _rule_class(owner)
    if rule_class is None or (rule_class is object and is_foreign(function)):
        raise refusal(function, what, f"{generic.__name__} of a class declared with @policy")
    if rule_class.__module__.startswith("adhere.") and is_foreign(function):
        raise refusal(function, what, f"{generic.__name__} of a policy of your own: {name_of(owner)} is adhere's")
    check = getattr(owner, "check_implementation", None)
    if check is None:
        check_arguments(function, generic, what)
    else:
        check(generic, function)
    known = _implemented[generic].get(rule_class)
    if known is not None:
        raise refusal(function, f"a second {what}", f"one: {name_of(known)} is it; declare the class again too")
    if rule_class in _settled:
        raise refusal(function, f"a late {what}", "it before the policy first runs; declare the class again too")
    return rule_class


def _rule_class(owner: Any) -> Any:
    """Of a declared policy, of a rule itself, or of `object`; None for anything else."""
    if not isinstance(owner, type):
        return None
    return vars(owner).get("rule_class") or (owner if owner is object or hasattr(owner, "_fields") else None)


def implementation(generic: AnyFunction, rule_class: type) -> AnyFunction | None:
    """A generic function's implementation for a class of rules, or its default, if there is one."""
    known = _implemented.get(generic, {})
    return known.get(rule_class, known.get(object))


def implementations_of(rule_class: type) -> dict[str, AnyFunction]:
    """Every function that implements something for a class of rules, by the name of what it implements."""
    return {generic.__name__: known[rule_class] for generic, known in _implemented.items() if rule_class in known}


def settle(rule_class: type) -> None:
    """Take no more implementations for a class of rules: it may be compiled from now on, or loaded as it was."""
    _settled.add(rule_class)
