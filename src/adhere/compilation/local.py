"""Arrays that live in one call of a compiled loop.

Their length is known when the loop is compiled and no other code can see them, so that the compiler may keep them in
registers, and threads of a processor or a GPU never wait for each other's. Lengths that are not static, because they
or the number of arms are large, get an array from outside: a stack holds only so much.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from adhere.compilation.intrinsic import intrinsic
from adhere.compilation.static import MAX_STATIC
from adhere.compilation.view import array_at


def _local(kind: Any) -> Any:
    def definition(typing_context: Any, length: Any, otherwise: Any) -> Any:
        array = types.Array(kind, 1, "C")
        if not isinstance(length, types.IntegerLiteral):
            return array(length, array), lambda context, builder, signature, arguments: arguments[1]

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            with builder.goto_entry_block():  # not Numba's own, which sets all to 0 in a loop
                room = builder.alloca(ir.ArrayType(context.get_data_type(kind), max(1, length.literal_value)))
            return array_at(context, builder, array, room, [context.get_constant(types.intp, length.literal_value)])

        return array(length, array), code

    return definition


@intrinsic(_local(types.float64))
def local_floats(length: int, otherwise: Any) -> Any:
    """Room for numbers, with anything in it; the other array where the length is too large to be static."""
    return np.full(length, np.nan) if length <= MAX_STATIC else otherwise


@intrinsic(_local(types.int64))
def local_integers(length: int, otherwise: Any) -> Any:
    """Room for whole numbers, likewise."""
    return np.full(length, -1, np.int64) if length <= MAX_STATIC else otherwise


@intrinsic(_local(types.uint64))
def local_words(length: int, otherwise: Any) -> Any:
    """Room for words of 64 bits, likewise."""
    return np.full(length, 2**64 - 1, np.uint64) if length <= MAX_STATIC else otherwise


def room_for(length: int, kind: type[np.generic], many_arms: bool = False) -> Any:
    """What to pass for `otherwise`: an array of the length where one is needed."""
    return np.zeros(length if many_arms or length > MAX_STATIC else 0, kind)


_UNROLLED = 64


def _copy(typing_context: Any, target: Any, source: Any, length: Any) -> Any:
    is_short = isinstance(length, types.IntegerLiteral) and length.literal_value <= _UNROLLED

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, start = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[:2], arguments[:2], strict=True)
        )

        def move(index: Any) -> None:
            builder.store(builder.load(builder.gep(start, [index])), builder.gep(to, [index]))

        if is_short:
            for index in range(length.literal_value):
                move(context.get_constant(types.intp, index))
        else:
            with cgutils.for_range(builder, arguments[2]) as loop:
                move(loop.index)
        return context.get_dummy_value()

    return types.none(target, source, length), code


@intrinsic(_copy)
def copy_into(target: Any, source: Any, length: int) -> None:
    """Copy the first numbers of a flat array.

    A loop would do, but one that the compiler does not unroll would keep the target out of registers.
    """
    target[:length] = source[:length]


def _clear(typing_context: Any, target: Any, length: Any) -> Any:
    is_short = isinstance(length, types.IntegerLiteral) and length.literal_value <= _UNROLLED

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        floats = context.make_array(target)(context, builder, arguments[0]).data
        zero = context.get_constant(types.float64, 0.0)
        if is_short:
            for index in range(length.literal_value):
                builder.store(zero, builder.gep(floats, [context.get_constant(types.intp, index)]))
        else:
            with cgutils.for_range(builder, arguments[1]) as loop:
                builder.store(zero, builder.gep(floats, [loop.index]))
        return context.get_dummy_value()

    return types.none(target, length), code


@intrinsic(_clear)
def clear_floats(target: Any, length: int) -> None:
    """Set the first numbers of a flat array to 0, without keeping it out of registers (see `copy_into`)."""
    target[:length] = 0.0
