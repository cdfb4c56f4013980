"""Local arrays, and hints that must not change a result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from adhere.compilation import Kernel, guessed, unlikely
from adhere.compilation.hints import in_wide_vectors
from adhere.compilation.local import clear_floats, copy_into, local_floats, local_integers, local_words, room_for
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
    assert (room_for(1024, np.float64).size, room_for(1025, np.float64).size) == (0, 1025)
    assert room_for(3, np.float64, many_arms=True).size == 3
