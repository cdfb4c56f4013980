"""What every result of bounds must satisfy, and one of them by its names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adhere.analysis.bounding.bounds import Bound, Bounds
from adhere.analysis.estimates import Shape
from adhere.analysis.records import TOOK_NOTHING, TOOK_OTHER, Records

from .made_records import made

Floats = NDArray[np.float64]
ARMS = "abcdefgh"


def from_cells(cells: Floats, n: int, control: int = 0) -> Records:
    """Records of `n` patients told each arm; the things beyond the arms are nothing, then something else."""
    n_arms, n_things, _ = cells.shape
    codes = [*range(n_arms), TOOK_NOTHING, TOOK_OTHER]
    rows = [
        (z, codes[d], float(v), round(cells[z, d, v] * n))
        for z in range(n_arms)
        for d in range(n_things)
        for v in (0, 1)
        if round(cells[z, d, v] * n)
    ]
    return made(rows, ARMS[:n_arms], control=control)


def one(found: Bounds, quantity: str, treatment: str, control: str | None = None, assumption: str = "none") -> Bound:
    wanted = quantity, treatment, control, assumption
    (only,) = [b for b in found.bounds if (b.quantity, b.treatment, b.control, b.assumption) == wanted]
    return only


def ends(bound: Bound) -> tuple[float, float]:
    """The two bounds, which must be there."""
    assert bound.low is not None
    assert bound.high is not None
    return bound.low, bound.high


def is_sensible(found: Bounds) -> None:
    """Never NaN, low ≤ high, limits around the bounds, monotonicity within none, and a reason where there is none."""
    half = len(found.bounds) // 2
    for bound, monotone in zip(found.bounds[:half], found.bounds[half:], strict=True):
        assert (bound.quantity, bound.treatment, bound.control) == (
            monotone.quantity,
            monotone.treatment,
            monotone.control,
        )
        for each in (bound, monotone):
            if each.low is None or each.high is None:
                assert each.reason.endswith(".")
                assert each.limits is None or each.limits.shape is Shape.EMPTY
                continue
            assert each.limits is not None
            assert each.limits.low <= each.low <= each.high <= each.limits.high
            assert (0 if each.quantity == "mean" else -1) <= each.limits.low
            assert each.limits.high <= 1
        if monotone.limits is not None and monotone.limits.shape is Shape.INTERVAL and bound.limits is not None:
            assert bound.limits.low - 1e-6 <= monotone.limits.low
            assert monotone.limits.high <= bound.limits.high + 1e-6
    assert found.inequality.sentence.endswith(".")
