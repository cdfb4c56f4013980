"""Views of flat arrays without the care that Python's slices take.

`array[start:]` is a dozen instructions: negative numbers count from the end, and a start beyond the array is drawn
in. Besides, compiled code that keeps no count of references may not call a function that returns an array; an
intrinsic is no such function.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from adhere.compilation.intrinsic import intrinsic

_ITEM = ir.Constant(ir.IntType(64), 8)  # bytes of a float or of a whole number
_FLOATS = types.Array(types.float64, 1, "C")


def array_at(context: Any, builder: Any, kind: Any, place: Any, shape: list[Any]) -> Any:
    """An array of one or two dimensions at a pointer to numbers that outlive it."""
    from numba.np.arrayobj import populate_array  # which brings half of Numba along, for compiling alone

    own = context.make_array(kind)(context, builder)
    strides = [builder.mul(_ITEM, shape[1]), _ITEM] if len(shape) == 2 else [_ITEM]
    uncounted = cgutils.get_null_value(own.meminfo.type)
    data = builder.bitcast(place, own.data.type)
    populate_array(own, data=data, shape=shape, strides=strides, itemsize=_ITEM, meminfo=uncounted)
    return own._getvalue()


def _view(typing_context: Any, array: Any, start: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = context.make_array(array)(context, builder, arguments[0])
        floats = builder.gep(whole.data, [arguments[1]])
        return array_at(context, builder, _FLOATS, floats, [builder.sub(whole.nitems, arguments[1])])

    return _FLOATS(array, types.intp), code


@intrinsic(_view)
def view(array: Any, start: int) -> Any:
    """The floats of a flat array from `start` on, which must not lie beyond its end.

    >>> import numpy
    >>> view(numpy.arange(5.0), 3).tolist()
    [3.0, 4.0]
    """
    return array[start:]


def _strip(typing_context: Any, array: Any, index: Any, count: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = context.make_array(array)(context, builder, arguments[0])
        length = builder.udiv(whole.nitems, arguments[2])
        floats = builder.gep(whole.data, [builder.mul(length, arguments[1])])
        return array_at(context, builder, _FLOATS, floats, [length])

    return _FLOATS(array, types.intp, types.intp), code


@intrinsic(_strip)
def strip(array: Any, index: int, count: int) -> Any:
    """One of several strips of equal length that a flat array is made of.

    >>> import numpy
    >>> strip(numpy.arange(6.0), 1, 3).tolist()
    [2.0, 3.0]
    """
    length = array.size // count
    return array[length * index : length * (index + 1)]
