"""Views and local arrays, and hints that must not change a result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import njit

from adhere.compilation import Kernel, guessed, unlikely, view
from adhere.compilation.intrinsics import (
    buffer_for,
    clear_floats,
    copy_into,
    in_wide_vectors,
    local_floats,
    local_integers,
    local_words,
)
from adhere.compilation.static import MAX_STATIC, static_type


class Lengths(NamedTuple):
    few: int
    many: int
    n_arms: int = 2


class Nested(NamedTuple):
    lengths: Lengths
    share: float
    table: Any
    flag: bool


LENGTHS = Lengths(3, 100)


def reversed_copy(lengths: Any, source: Any, out: Any, lengths_room: Any, words_room: Any) -> None:
    """Copy numbers into local arrays and out again, backwards; what is cleared adds nothing."""
    few, many = local_floats(lengths.few, out), local_floats(lengths.many, out)
    nothing, nothing_more = local_floats(lengths.few, out), local_floats(lengths.many, out)
    clear_floats(nothing, lengths.few)
    clear_floats(nothing_more, lengths.many)
    counts, words = local_integers(lengths.few, lengths_room), local_words(lengths.few, words_room)
    copy_into(few, source, lengths.few)
    copy_into(many, source, lengths.many)
    for i in range(lengths.few):
        counts[i], words[i] = i - 5, np.uint64(i)
        out[lengths.many + i] = few[lengths.few - 1 - i] + counts[i] + words[i] + nothing[i]
    for i in range(lengths.many):
        out[i] = many[lengths.many - 1 - i] + nothing_more[i]


@pytest.mark.parametrize("way", ["compiled", "python"])
def test_local_arrays_hold_what_is_put_in(way: str) -> None:
    source, out = np.arange(100.0), np.zeros(103)
    arguments = (LENGTHS, source, out, np.zeros(0, np.int64), np.zeros(0, np.uint64))
    function = Kernel(reversed_copy, static=True).compiled(*arguments) if way == "compiled" else reversed_copy
    function(*arguments)
    assert out[:100].tolist() == source[::-1].tolist()
    assert out[100:].tolist() == [2 - 5 + 0, 1 - 4 + 1, 0 - 3 + 2]


@njit  # type: ignore[untyped-decorator]
def hinted(value: int) -> int:
    in_wide_vectors()
    if unlikely(value > 3):
        return 2 * int(guessed(value))
    return int(guessed(value))


@pytest.mark.parametrize("value", [-2, -1, 0, 1, 2, 3, 4, 2**40])
def test_hints_change_nothing(value: int) -> None:
    expected = 2 * value if value > 3 else value
    assert hinted(value) == hinted.py_func(value) == expected


def test_whole_numbers_and_flags_are_part_of_a_static_type_and_nothing_else_is() -> None:
    value = Nested(LENGTHS, 0.5, np.zeros(3), True)
    same = Nested(LENGTHS, 0.7, np.ones(9), True)
    others = [Nested(Lengths(3, 101), 0.5, np.zeros(3), True), Nested(LENGTHS, 0.5, np.zeros(3), False)]
    assert static_type(value) == static_type(same) not in [static_type(other) for other in others]
    assert static_type(7) == static_type(8)


def test_what_is_too_long_for_a_stack_is_not_static() -> None:
    short, long = Lengths(MAX_STATIC, 1), Lengths(MAX_STATIC + 1, 1)
    assert static_type(short) != static_type(Lengths(MAX_STATIC - 1, 1))
    assert static_type(long) == static_type(Lengths(MAX_STATIC + 2, 1))
    assert (buffer_for(1024, np.float64).size, buffer_for(1025, np.float64).size) == (0, 1025)
    assert buffer_for(3, np.float64, many_arms=True).size == 3


@numba.njit(_nrt=False)  # type: ignore[untyped-decorator]
def double_rest(array: Any, start: int) -> int:
    rest = view(array, start)
    for i in range(rest.size):
        rest[i] *= 2.0
    return int(rest.size)


@pytest.mark.parametrize("start", [0, 2, 4, 5])
@pytest.mark.parametrize("double", [double_rest, double_rest.py_func])
def test_a_view_is_the_rest_of_the_array(double: Any, start: int) -> None:
    array, expected = np.arange(5.0), np.arange(5.0)
    assert double(array, start) == 5 - start
    expected[start:] *= 2.0
    assert array.tolist() == expected.tolist()


@numba.njit  # type: ignore[untyped-decorator]
def sum_of_rest(n: int) -> float:
    made = np.arange(n).astype(np.float64)
    return float(view(made, 1).sum())


def test_a_view_needs_no_memory_of_its_own() -> None:
    """In code that counts references, thousands of views must neither free the whole too soon nor keep it."""
    assert all(sum_of_rest(10) == 45.0 for _ in range(10_000))
