"""Types for compilation in which a rule's whole numbers are static: part of the type.

Numbers of arms and lengths shape the code: loops over two arms are unrolled, offsets are constants, arrays become
registers. Parameters (floats) and tables (arrays) are not static, so that policies that differ in them, and
protocols, share code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types as _types

types: Any = _types  # whose own annotations leave most of it out

# Larger ones are lengths of a state that no register holds: as many rewards as there are patients, say.
MAX_STATIC = 1024


def static_type(value: Any) -> Any:
    """The type of an argument; whole numbers inside named tuples are static."""
    return _in_tuple(value) if hasattr(value, "_fields") else numba.typeof(value)


def _in_tuple(value: Any) -> Any:
    if isinstance(value, int) and value <= MAX_STATIC:  # True and False are whole numbers too
        return types.literal(value)
    if not isinstance(value, tuple):
        return numba.typeof(value)
    parts = tuple(_in_tuple(part) for part in value)
    named = [type(value)] if hasattr(value, "_fields") else []
    if len(set(parts)) == 1:
        return (types.NamedUniTuple if named else types.UniTuple)(parts[0], len(parts), *named)
    return (types.NamedTuple if named else types.Tuple)(parts, *named)


def if_two_arms(of_two: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """What `specialise` picks by: a function for rules that are known to have two arms, and one for the others."""

    def pick(rule: Any, *_: Any) -> Callable[..., Any]:
        return of_two if rule.types[rule.fields.index("n_arms")] == types.literal(2) else otherwise

    return pick
