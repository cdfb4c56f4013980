"""What callers of `simulate` may write, made into what it works with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.policies import Policy
from adhere.populations import Population

Integers = NDArray[np.int64]
_DEFAULT_POINTS = 20


def several(given: object) -> list[object]:
    """One thing or several, as a list."""
    alone = isinstance(given, (str, Path, Policy, Population, dict)) or not isinstance(given, Iterable)
    return [given] if alone else list(given)  # type: ignore[call-overload]


def grid_points(grid: int | Sequence[int] | None, n_patients: int) -> Integers:
    """The numbers of patients after which measures are recorded; the last is that of the whole trial."""
    if grid is None:
        grid = min(_DEFAULT_POINTS, n_patients)
    if isinstance(grid, (int, np.integer)):
        n_points = check_integer("grid", grid, 1, n_patients)
        return np.unique(np.linspace(n_patients / n_points, n_patients, n_points).round().astype(np.int64))
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InputError("grid", grid, "numbers of patients, or how many points to spread evenly")
    points = sorted({check_integer("grid", point, 1, n_patients) for point in grid} | {n_patients})
    return np.array(points, np.int64)
