"""Parts of arrays: the same as Python's slices, in Python and compiled, and they are views."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from adhere.compilation import between, beyond


@numba.njit(_nrt=False)  # type: ignore[untyped-decorator]
def double_parts(array: Any, start: int, stop: int, sizes: Any) -> None:
    part, rest = between(array, start, stop), beyond(array, start)
    sizes[0], sizes[1] = part.size, rest.size
    for i in range(part.size):
        part[i] *= 2.0
    for i in range(rest.size):
        rest[i] += 100.0


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (0, 0), (2, 4), (5, 5), (4, 5)])
def test_compiled_parts_are_views_of_what_a_slice_would_be(start: int, stop: int) -> None:
    array, sizes = np.arange(5.0), np.zeros(2, np.int64)
    double_parts(array, start, stop, sizes)
    expected = np.arange(5.0)
    expected[start:stop] *= 2.0
    expected[start:] += 100.0
    assert array.tolist() == expected.tolist()
    assert sizes.tolist() == [stop - start, 5 - start]


def test_python_slices() -> None:
    array = np.arange(5.0)
    between(array, 1, 3)[:] = 7.0
    beyond(array, 4)[:] = 9.0
    assert array.tolist() == [0.0, 7.0, 7.0, 3.0, 9.0]


@numba.njit  # type: ignore[untyped-decorator]
def sum_of_part(n: int) -> float:
    made = np.arange(n).astype(np.float64)
    return float(between(made, 1, n).sum())


def test_a_part_needs_no_memory_of_its_own() -> None:
    """In code that counts references, thousands of parts must neither free the whole too soon nor keep it."""
    assert all(sum_of_part(10) == 45.0 for _ in range(10_000))
