"""Tipping points: the mean that an arm's missing outcomes would need to have for an interval to touch 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adhere.analysis.fixed_sample.missing_at_random import Completed
from adhere.analysis.records import Floats
from adhere.analysis.view import View


@dataclass(frozen=True)
class TippingPoint:
    """Mean of the missing outcomes of `arm` at which the interval of an effect touches 0, others at random.

    `mean_at_random` is the mean that the analysis assumes for them. `tipping_means` lie between 0 and 1. If the
    interval excludes 0, there is at most one; if it contains 0, there are up to two, beyond which it would not.
    """

    view: View
    treatment: str
    control: str
    arm: str
    n_missing: int
    mean_at_random: float
    contains_zero: bool
    tipping_means: tuple[float, ...]
    stratified: bool = False


@dataclass(frozen=True)
class MissingPart:
    """The missing outcomes of an arm: their share of the arm, weighted as the effect is, and their mean."""

    n: int
    share: float
    mean: float


def missing_part(filled: Completed, arm: int, weights: Floats | None = None) -> MissingPart:
    """Missing outcomes of an arm, with strata weighted by `weights` (None: by their numbers of patients)."""
    assigned = filled.known.assigned[:, arm].sum(axis=1).astype(np.float64)
    if weights is None:
        weights, shares = assigned / assigned.sum(), filled.shares(arm)
    else:
        shares = filled.within_strata(arm, weights)
    n, total = (table[:, arm].sum(axis=1) for table in (filled.known.n, filled.known.total))
    known = float((weights * total / np.maximum(1.0, assigned)).sum())
    share = float((weights * (1.0 - n / np.maximum(1.0, assigned))).sum())
    means = filled.cells.total[:, arm] / np.maximum(1, filled.cells.n[:, arm])
    whole = float((shares * means).sum())
    mean = min(1.0, max(0.0, (whole - known) / share)) if share > 0.0 else 0.0
    return MissingPart(int(assigned.sum() - n.sum()), share, mean)


def tipping_values(part: MissingPart, interval: tuple[float, float], sign: float) -> tuple[float, ...]:
    """The means from 0 to 1 at which an interval touches 0; it moves by sign·share for each unit of the mean.

    >>> tipping_values(MissingPart(20, 0.2, 0.5), (0.03, 0.21), 1.0)
    (0.35,)
    >>> tipping_values(MissingPart(20, 0.1, 0.5), (0.09, 0.21), 1.0)
    ()
    """
    low, high = interval
    ends = (low, high) if low <= 0.0 <= high else (low,) if low > 0.0 else (high,)
    found = (part.mean - end / (sign * part.share) for end in ends)
    return tuple(sorted(round(one, 12) for one in found if 0.0 <= one <= 1.0))
