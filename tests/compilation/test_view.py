"""Views of arrays: what Python's slices would be, in Python and compiled, without memory of their own."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from adhere.compilation import view


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
