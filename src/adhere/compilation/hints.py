"""What we know about compiled code and the compiler does not. None of it changes a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types

from adhere.compilation.intrinsic import intrinsic

_GUESSES = 2


def is_gpu(context: Any) -> bool:
    """Whether code is generated for a GPU."""
    return "cuda" in type(context).__module__


def _hint(kind: Any, on_processors: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """An intrinsic that gives back its argument, by instructions of its own on processors."""

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
    """The condition itself, mostly false: what it guards is kept out of the way of the rest.

    A call of `log` in it, say, then saves the registers it needs itself.
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
        # Behind an instruction of no bytes, or the compiler would see that all of this changes nothing.
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
    """The value itself, a small whole number that is often the same.

    A processor goes on with its guess of a branch while the value is still being computed: all that hangs on an arm,
    its rewards and its counts, is fetched ahead. Wrong guesses cost as much as a dozen instructions.
    """
    return value


def _in_wide_vectors(typing_context: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not is_gpu(context):
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')  # no name that llvmlite knows
        return context.get_dummy_value()

    return types.none(), code


@intrinsic(_in_wide_vectors)
def in_wide_vectors() -> None:
    """Say in a function's first line that its loops may use vectors of 512 bits, where the processor has them.

    The compiler thinks 256 safer, since some processors slow down; for our loops the wide ones pay.
    """
