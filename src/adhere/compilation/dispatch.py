"""Generic functions that compiled code specialises by the type of their first argument."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numba.extending import overload, register_jitable

from adhere.compilation.user_code import check_arguments, is_foreign, name_of, refusal

AnyFunction = Callable[..., Any]
Function = TypeVar("Function", bound=AnyFunction)
# These functions are never called from C. Inlining small functions makes a kernel up to twice as fast. Inlining large
# functions makes it large and slow to compile.
_CALLED = {"no_cfunc_wrapper": True}
_INLINED = {**_CALLED, "forceinline": True}
# A user's function that divides by 0 fails, as in Python. Our own functions guard against it, and loops continue with
# infinity.
_STRICT = {"error_model": "python"}
_implemented: dict[AnyFunction, dict[type, AnyFunction]] = {}
_settled: set[type] = set()


def inline(function: Function) -> Function:
    """Let compiled code use a plain function, inlined into its callers."""
    register_jitable(**_INLINED)(function)
    return function


def no_inline(function: Function) -> Function:
    """Let compiled code call a plain function that is large or seldom needed, without inlining it."""
    register_jitable(**_CALLED)(function)
    return function


def generic(function: Function) -> Function:
    """Mark a function that is specialised by its first argument, in compiled code and in Python."""

    @wraps(function)
    def dispatch(rule: Any, *arguments: Any) -> Any:
        own = implementation(dispatch, type(rule))
        if own is None:
            raise TypeError(f"{function.__name__} is not implemented for {rule!r}")
        return own(rule, *arguments)

    _declare(dispatch)
    return cast(Function, dispatch)


def generic_with_default(function: Function) -> Function:
    """Do the same as `generic`; the function's own body is used for rules without an implementation."""
    dispatch = generic(function)
    implements(dispatch, object)(function)
    return dispatch


def specialise(
    generic: AnyFunction, pick: AnyFunction, target: str = "generic", inlined: bool = True, strict: bool = False
) -> None:
    """Let `pick` choose, from the types of the arguments, the function that compiled code runs for `generic`.

    With the target "cpu", this applies to processors only. A `strict` function fails if it divides by 0.
    """
    options = (_INLINED if inlined else _CALLED) | (_STRICT if strict else {})
    overload(generic, target=target, strict=False, jit_options=options)(pick)


def implements(generic: AnyFunction, owner: type, inlined: bool = True) -> Callable[[Function], Function]:
    """Register the decorated function as `generic`'s implementation for a class of rules or of policies.

    An implementation for `object` is the default for rules without their own. The first implementation decides
    whether all are inlined. An implementation that would never be called is refused. A class of policies checks
    itself which functions it calls (`check_implementation`).
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
    """Return the class of rules that a function is for; raise an `InputError` if it would never be called."""
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
    """Return the rule class of a declared policy, a rule class itself or `object`, or None for anything else."""
    if not isinstance(owner, type):
        return None
    return vars(owner).get("rule_class") or (owner if owner is object or hasattr(owner, "_fields") else None)


def implementation(generic: AnyFunction, rule_class: type) -> AnyFunction | None:
    """Return a generic function's implementation for a class of rules; without one, its default, or None."""
    known = _implemented.get(generic, {})
    return known.get(rule_class, known.get(object))


def implementations_of(rule_class: type) -> dict[str, AnyFunction]:
    """Return every function that is implemented for a class of rules, by the name of its generic function."""
    return {generic.__name__: known[rule_class] for generic, known in _implemented.items() if rule_class in known}


def settle(rule_class: type) -> None:
    """Accept no more implementations for a class of rules, since it may be compiled or loaded from now on."""
    _settled.add(rule_class)
