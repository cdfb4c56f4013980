"""Functions that Python can call and that compiled code replaces by our own instructions.

Hints never change a result; they tell the compiler what it cannot know. Views are slices without the checks that
Python's slices need. `array[start:]` takes a dozen instructions, since negative indices count from the end and a
start beyond the array is clipped. Also, compiled code without reference counts may not call a function that returns
an array.

Local arrays exist during one call of a compiled loop. Their length is known when the loop is compiled, and no other
code can see them. The compiler may therefore keep them in registers, and threads of a processor or GPU never wait for
each other's. If a length is too large to be static, an array from outside is used, since the size of a stack is
limited.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template

from adhere.compilation.static import MAX_STATIC


def intrinsic(definition: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let compiled code, on a processor or a GPU, run `definition` instead of the decorated function.

    The definition takes the typing context and the types of the arguments. It returns a signature and a function that
    generates the code. Numba's own decorator would not leave a function that Python can call.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        template = make_intrinsic_template(function, definition, function.__name__, prefer_literal=True)
        infer(template)
        infer_global(function, types.Function(template))
        return function

    return register


_GUESSES = 2


def is_gpu(context: Any) -> bool:
    """Return whether code is generated for a GPU."""
    return "cuda" in type(context).__module__


def _hint(kind: Any, on_processors: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return an intrinsic that returns its argument and, on processors only, adds instructions."""

    def definition(typing_context: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return arguments[0] if is_gpu(context) else on_processors(builder, arguments[0])

        return kind(kind), code

    return intrinsic(definition)


def _expect_false(builder: Any, condition: Any) -> Any:
    bit = condition.type
    expect = builder.module.declare_intrinsic("llvm.expect", [bit], ir.FunctionType(bit, [bit, bit]))
    return builder.call(expect, [condition, ir.Constant(bit, 0)])


@_hint(types.boolean, _expect_false)
def unlikely(condition: bool) -> bool:
    """Return the condition, which is usually false; code that it guards is moved out of the main path.

    For example, a call of `log` there then saves the registers that it needs itself.
    """
    return condition


def _compare_with_guesses(builder: Any, number: Any) -> Any:
    found = []
    after = builder.append_basic_block("guessed")
    for guess in range(_GUESSES):
        is_it, is_not = builder.append_basic_block("is_it"), builder.append_basic_block("is_not")
        known = ir.Constant(number.type, guess)
        builder.cbranch(builder.icmp_signed("==", number, known), is_it, is_not)
        builder.position_at_end(is_it)
        # The empty instruction hides the constant; otherwise the compiler would see that all of this changes nothing.
        hidden = builder.asm(ir.FunctionType(number.type, [number.type]), "", "=r,0", [known], side_effect=False)
        builder.branch(after)
        found.append((hidden, is_it))
        builder.position_at_end(is_not)
    found.append((number, builder.block))
    builder.branch(after)
    builder.position_at_end(after)
    result = builder.phi(number.type)
    for known, block in found:
        result.add_incoming(known, block)
    return result


@_hint(types.int64, _compare_with_guesses)
def guessed(value: int) -> int:
    """Return the value, a small whole number that a processor can often guess because it tends to repeat.

    A processor continues with its guess of a branch while the value is still being computed, so everything that
    depends on an arm, its rewards and counts, is loaded ahead. A wrong guess costs as much as a dozen instructions.
    """
    return value


def _in_wide_vectors(typing_context: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not is_gpu(context):
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')  # llvmlite does not know this name
        return context.get_dummy_value()

    return types.none(), code


@intrinsic(_in_wide_vectors)
def in_wide_vectors() -> None:
    """Allow vectors of 512 bits in a function's loops, if the processor has them; call it in the function's first
    line.

    The compiler prefers 256 bits, since some processors slow down. For our loops the wide vectors are faster.
    """


_ITEM = ir.Constant(ir.IntType(64), 8)  # bytes of a float or an integer
_FLOATS = types.Array(types.float64, 1, "C")


def array_at(context: Any, builder: Any, kind: Any, place: Any, shape: list[Any]) -> Any:
    """Return an array of one or two dimensions at a pointer to numbers that outlive it."""
    from numba.np.arrayobj import populate_array  # imports half of Numba, which only compiling needs

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
    """Return the floats of a flat array from index `start` on, which must not be beyond its end.

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
    """Return one of the `count` slices of equal length that make up a flat array.

    >>> import numpy
    >>> strip(numpy.arange(6.0), 1, 3).tolist()
    [2.0, 3.0]
    """
    length = array.size // count
    return array[length * index : length * (index + 1)]


def _local(kind: Any) -> Any:
    def definition(typing_context: Any, length: Any, otherwise: Any) -> Any:
        array = types.Array(kind, 1, "C")
        if not isinstance(length, types.IntegerLiteral):
            return array(length, array), lambda context, builder, signature, arguments: arguments[1]

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            with builder.goto_entry_block():  # not Numba's own function, which sets all elements to 0 in a loop
                room = builder.alloca(ir.ArrayType(context.get_data_type(kind), max(1, length.literal_value)))
            return array_at(context, builder, array, room, [context.get_constant(types.intp, length.literal_value)])

        return array(length, array), code

    return definition


@intrinsic(_local(types.float64))
def local_floats(length: int, otherwise: Any) -> Any:
    """Return a local array of floats with undefined content, or `otherwise` if the length is too large to be
    static.
    """
    return np.full(length, np.nan) if length <= MAX_STATIC else otherwise


@intrinsic(_local(types.int64))
def local_integers(length: int, otherwise: Any) -> Any:
    """Return a local array of integers with undefined content, or `otherwise` if the length is too large to be
    static.
    """
    return np.full(length, -1, np.int64) if length <= MAX_STATIC else otherwise


@intrinsic(_local(types.uint64))
def local_words(length: int, otherwise: Any) -> Any:
    """Return a local array of 64-bit words with undefined content, or `otherwise` if the length is too large."""
    return np.full(length, 2**64 - 1, np.uint64) if length <= MAX_STATIC else otherwise


def buffer_for(length: int, kind: type[np.generic], many_arms: bool = False) -> Any:
    """Return the array to pass as `otherwise`, which has the given length only if it is needed."""
    return np.zeros(length if many_arms or length > MAX_STATIC else 0, kind)


_UNROLLED = 64


def _store_first(target: Any, source: Any, length: Any) -> tuple[Any, Any]:
    """Store the first numbers of a source, or zeros without a source: unrolled if they are few, otherwise in a
    loop.
    """
    arrays = [target] if source is None else [target, source]
    is_short = isinstance(length, types.IntegerLiteral) and length.literal_value <= _UNROLLED

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, *start = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(arrays, arguments, strict=False)
        )
        zero = context.get_constant(types.float64, 0.0)

        def store(index: Any) -> None:
            number = builder.load(builder.gep(start[0], [index])) if start else zero
            builder.store(number, builder.gep(to, [index]))

        if is_short:
            for index in range(length.literal_value):
                store(context.get_constant(types.intp, index))
        else:
            with cgutils.for_range(builder, arguments[-1]) as loop:
                store(loop.index)
        return context.get_dummy_value()

    return types.none(*arrays, length), code


def _copy(typing_context: Any, target: Any, source: Any, length: Any) -> Any:
    return _store_first(target, source, length)


@intrinsic(_copy)
def copy_into(target: Any, source: Any, length: int) -> None:
    """Copy the first numbers of a flat array.

    A plain loop would keep the target out of registers unless the compiler unrolled it.
    """
    target[:length] = source[:length]


def _clear(typing_context: Any, target: Any, length: Any) -> Any:
    return _store_first(target, None, length)


@intrinsic(_clear)
def clear_floats(target: Any, length: int) -> None:
    """Set the first numbers of a flat array to 0, without keeping it out of registers (see `copy_into`)."""
    target[:length] = 0.0
