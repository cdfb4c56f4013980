"""Balke and Pearl's bounds in two other ways: a program over every response type, and their expressions for two arms.

Written from the paper (Balke and Pearl 1997), not from the code: a type is what one takes when told each arm and the
outcome with each thing; each has a share, and the cells are sums of shares.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]


def response_types(n_told: int, n_things: int, *, monotone: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All (what one takes when told each arm, outcome with each thing); the first things are the arms told."""
    kept = []
    for taken in product(range(n_things), repeat=n_told):
        # Who takes arm j when told another one takes it when told j.
        if monotone and any(d < n_told and taken[d] != d for d in taken):
            continue
        kept += [(taken, y) for y in product((0, 1), repeat=n_things)]
    return kept


def cells_of(types: list[tuple[tuple[int, ...], tuple[int, ...]]], shares: Floats, n_things: int) -> Floats:
    """The cells p[z, d, v] of a population with these shares of types."""
    cells = np.zeros((len(types[0][0]), n_things, 2))
    for (taken, y), share in zip(types, shares, strict=True):
        for z, d in enumerate(taken):
            cells[z, d, y[d]] += share
    return cells


def type_bounds(low: Floats, high: Floats, signs: dict[int, int], *, monotone: bool) -> tuple[float, float] | None:
    """The bounds of Σ sign·E[Y(thing)] over cells from low to high, by the program over every type."""
    n_told, n_things, _ = low.shape
    types = response_types(n_told, n_things, monotone=monotone)
    objective = np.array([sum(sign * y[thing] for thing, sign in signs.items()) for _, y in types], dtype=float)
    sums = np.array([cells_of([one], np.ones(1), n_things).ravel() for one in types]).T
    whole: dict[str, Any] = {"A_eq": np.ones((1, len(types))), "b_eq": [1.0], "bounds": (0, None)}
    if np.array_equal(low, high):
        whole["A_eq"], whole["b_eq"] = sums, low.ravel()
    else:
        whole["A_ub"], whole["b_ub"] = np.vstack([sums, -sums]), np.concatenate([high.ravel(), -low.ravel()])
    solutions = [linprog(side * objective, **whole) for side in (1, -1)]
    return None if solutions[0].status else (solutions[0].fun, -solutions[1].fun)


def balke_pearl(cells: Floats) -> tuple[float, float]:
    """Their eight lower and eight upper expressions for E[Y(1)] − E[Y(0)]; p(y, d, z) is P(y, d | z)."""

    def p(y: int, d: int, z: int) -> float:
        return float(cells[z, d, y])

    low = max(
        p(1, 1, 1) + p(0, 0, 0) - 1,
        p(1, 1, 0) + p(0, 0, 1) - 1,
        p(1, 1, 0) - p(1, 1, 1) - p(1, 0, 1) - p(0, 1, 0) - p(1, 0, 0),
        p(1, 1, 1) - p(1, 1, 0) - p(1, 0, 0) - p(0, 1, 1) - p(1, 0, 1),
        -p(0, 1, 1) - p(1, 0, 1),
        -p(0, 1, 0) - p(1, 0, 0),
        p(0, 0, 1) - p(0, 1, 1) - p(1, 0, 1) - p(0, 1, 0) - p(0, 0, 0),
        p(0, 0, 0) - p(0, 1, 0) - p(1, 0, 0) - p(0, 1, 1) - p(0, 0, 1),
    )
    high = min(
        1 - p(0, 1, 1) - p(1, 0, 0),
        1 - p(0, 1, 0) - p(1, 0, 1),
        -p(0, 1, 0) + p(0, 1, 1) + p(0, 0, 1) + p(1, 1, 0) + p(0, 0, 0),
        -p(0, 1, 1) + p(1, 1, 1) + p(0, 0, 1) + p(0, 1, 0) + p(0, 0, 0),
        p(1, 1, 1) + p(0, 0, 1),
        p(1, 1, 0) + p(0, 0, 0),
        -p(1, 0, 1) + p(1, 1, 1) + p(0, 0, 1) + p(1, 1, 0) + p(1, 0, 0),
        -p(1, 0, 0) + p(1, 1, 0) + p(0, 0, 0) + p(1, 1, 1) + p(1, 0, 1),
    )
    return low, high
