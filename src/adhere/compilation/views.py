"""Parts of flat arrays without the care that Python's slices take.

`array[start:stop]` is a dozen instructions: negative numbers count from the end, and ends beyond the array are drawn
in. A policy made of policies takes some twenty parts for every decision, all of them well inside the array. Besides,
compiled code that keeps no count of references may not call a function that returns an array; this is none.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.np.arrayobj import populate_array

from adhere.compilation.intrinsics import becomes


def _view(context: Any, builder: Any, array_type: Any, array: Any, start: Any, stop: Any) -> Any:
    whole = context.make_array(array_type)(context, builder, array)
    part = context.make_array(array_type)(context, builder)
    end = cgutils.unpack_tuple(builder, whole.shape, 1)[0] if stop is None else stop
    populate_array(
        part,
        data=builder.gep(whole.data, [start]),
        shape=[builder.sub(end, start)],
        strides=cgutils.unpack_tuple(builder, whole.strides, 1),
        itemsize=whole.itemsize,
        meminfo=cgutils.get_null_value(whole.meminfo.type),  # the whole outlives its parts
    )
    return part._getvalue()


def _between(typing_context: Any, array: Any, start: Any, stop: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _view(context, builder, signature.args[0], *arguments)

    return array(array, types.intp, types.intp), code


def _beyond(typing_context: Any, array: Any, start: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _view(context, builder, signature.args[0], arguments[0], arguments[1], None)

    return array(array, types.intp), code


@becomes(_between)
def between(array: Any, start: int, stop: int) -> Any:
    """The part of a flat array from `start` up to `stop`, which must lie in it.

    >>> import numpy
    >>> between(numpy.arange(5), 1, 3).tolist()
    [1, 2]
    """
    return array[start:stop]


@becomes(_beyond)
def beyond(array: Any, start: int) -> Any:
    """The part of a flat array from `start` on."""
    return array[start:]
