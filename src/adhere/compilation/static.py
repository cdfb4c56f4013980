"""Types for compilation in which a rule's whole numbers are static: part of the type.

Numbers of arms and lengths shape the code: loops over two arms are unrolled, offsets are constants, arrays become
registers. Parameters (floats) and tables (arrays) are not static, so that policies that differ in them, and
protocols, share code.
"""

from __future__ import annotations

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
    alike = len(set(parts)) == 1
    if hasattr(value, "_fields"):
        return (
            types.NamedUniTuple(parts[0], len(parts), type(value)) if alike else types.NamedTuple(parts, type(value))
        )
    return types.UniTuple(parts[0], len(parts)) if alike else types.Tuple(parts)


def static_number(rule: Any, field: str) -> int | None:
    """The whole number that a rule's type holds in a field; None if it is not static."""
    kind = rule.types[rule.fields.index(field)]
    return kind.literal_value if isinstance(kind, types.IntegerLiteral) else None
