"""Types for compilation in which a rule's whole numbers are static, i.e. part of the type.

Numbers of arms and lengths shape the code: loops over two arms are unrolled, offsets are constants, and arrays become
registers. Parameters (floats) and tables (arrays) are not static. Policies that differ only in parameters, tables or
protocols therefore share code.
"""

from collections.abc import Callable
from typing import Any, cast

import numba
from numba.core import types as _types

from adhere.compilation.dispatch import Function, specialise

types: Any = _types  # its own annotations omit most of its members

# Larger numbers are lengths of states that do not fit into registers, e.g. one reward per patient.
MAX_STATIC = 1024
# With more arms, no whole number is static: the loops over arms take longer than static numbers would save, and one
# kernel serves all numbers of arms.
MAX_STATIC_ARMS = 16


def type_for(rule: Any) -> Callable[[Any], Any]:
    """Return the function that gives the types of a rule and its other arguments: static types if there are few
    arms.
    """
    return static_type if rule.n_arms <= MAX_STATIC_ARMS else numba.typeof


def static_type(value: Any) -> Any:
    """Return the type of an argument, in which whole numbers inside named tuples are static."""
    return _in_tuple(value) if hasattr(value, "_fields") else numba.typeof(value)


def _in_tuple(value: Any) -> Any:
    if isinstance(value, int) and value <= MAX_STATIC:  # True and False are also whole numbers
        return types.literal(value)
    if not isinstance(value, tuple):
        return numba.typeof(value)
    parts = tuple(_in_tuple(part) for part in value)
    named = [type(value)] if hasattr(value, "_fields") else []
    if len(set(parts)) == 1:
        return (types.NamedUniTuple if named else types.UniTuple)(parts[0], len(parts), *named)
    return (types.NamedTuple if named else types.Tuple)(parts, *named)


def if_two_arms(of_two: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Return a choice for `specialise`: one function for rules known to have two arms, another for other rules."""

    def pick(rule: Any, *_: Any) -> Callable[..., Any]:
        return of_two if _n_arms(rule) == types.literal(2) else otherwise

    return pick


def by_number_of_arms(of_two: Function, of_more: Function) -> Function:
    """Return a function that runs `of_two` for rules with two arms and `of_more` for other rules.

    If the number of arms is static, only one of them is compiled.
    """

    def of_any(rule: Any, *arguments: Any) -> Any:
        return of_two(rule, *arguments) if rule.n_arms == 2 else of_more(rule, *arguments)

    def pick(rule: Any, *_: Any) -> Callable[..., Any]:
        if not isinstance(_n_arms(rule), types.IntegerLiteral):
            return of_any
        return of_two if _n_arms(rule) == types.literal(2) else of_more

    specialise(of_any, pick)
    return cast(Function, of_any)


def _n_arms(rule: Any) -> Any:
    return rule.types[rule.fields.index("n_arms")]
