"""Arrays that live in one call of a compiled loop.

Their length is known when the loop is compiled and nobody else can see them, so that the compiler may keep them in
registers, and threads of a processor or a GPU never wait for each other's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.np.arrayobj import populate_array

from adhere.compilation.intrinsics import becomes


def _local(kind: Any) -> Any:
    def definition(typing_context: Any, length: Any) -> Any:
        if not isinstance(length, types.IntegerLiteral):
            return None
        array = types.Array(kind, 1, "C")

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = context.get_data_type(kind)
            size = context.get_constant(types.intp, context.get_abi_sizeof(number))
            with builder.goto_entry_block():  # not Numba's own, which sets all to 0 in a loop
                room = builder.alloca(ir.ArrayType(number, max(1, length.literal_value)))
            own = context.make_array(array)(context, builder)
            populate_array(
                own,
                data=builder.bitcast(room, own.data.type),
                shape=[context.get_constant(types.intp, length.literal_value)],
                strides=[size],
                itemsize=size,
                meminfo=cgutils.get_null_value(own.meminfo.type),
            )
            return own._getvalue()

        return array(length), code

    return definition


@becomes(_local(types.float64))
def local_floats(length: int) -> Any:
    """Room for numbers; compiled code finds anything in it."""
    return np.full(length, np.nan)


@becomes(_local(types.int64))
def local_integers(length: int) -> Any:
    """Room for whole numbers; compiled code finds anything in it."""
    return np.full(length, -1, np.int64)


@becomes(_local(types.uint64))
def local_words(length: int) -> Any:
    """Room for words of 64 bits; compiled code finds anything in it."""
    return np.full(length, 2**64 - 1, np.uint64)


_UNROLLED = 64


def _copy(typing_context: Any, target: Any, source: Any, length: Any) -> Any:
    if not isinstance(length, types.IntegerLiteral):
        return None

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, start = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[:2], arguments[:2], strict=True)
        )

        def move(index: Any) -> None:
            builder.store(builder.load(builder.gep(start, [index])), builder.gep(to, [index]))

        if length.literal_value <= _UNROLLED:
            for index in range(length.literal_value):
                move(context.get_constant(types.intp, index))
        else:
            with cgutils.for_range(builder, context.get_constant(types.intp, length.literal_value)) as loop:
                move(loop.index)
        return context.get_dummy_value()

    return types.none(target, source, length), code


@becomes(_copy)
def copy_into(target: Any, source: Any, length: int) -> None:
    """Copy the first numbers of a flat array.

    A loop would do, but one that the compiler does not unroll would keep the target out of registers.
    """
    target[:length] = source[:length]
