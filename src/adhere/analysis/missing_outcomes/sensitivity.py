"""Effects under other assumptions on missing outcomes: complete cases, latent ignorability, tipping points."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from adhere.analysis.cells import Cells
from adhere.analysis.estimates import OfPair, Quantity, Shape, Validity, View, with_validity
from adhere.analysis.fixed_sample.compliers import assignment_interval, complier_comparison
from adhere.analysis.fixed_sample.effects import intention_to_treat
from adhere.analysis.fixed_sample.missing_at_random import Completed, completed
from adhere.analysis.fixed_sample.two_arms import PairOfArms
from adhere.analysis.missing_outcomes.latent_ignorability import latent_effect
from adhere.analysis.records import Floats, pairs_of


@dataclass(frozen=True)
class TippingPoint(OfPair):
    """Mean of the missing outcomes of `arm` at which an effect's confidence interval touches 0.

    Outcomes of the other arm are assumed missing at random. `mean_at_random` is the mean of the missing outcomes of
    `arm` under the same assumption. `tipping_means` has the tipping points between 0 and 1. If the interval excludes
    0, there is at most one. If it contains 0, there are up to two; beyond them the interval would exclude 0.
    """

    arm: str
    n_missing: int
    mean_at_random: float
    contains_zero: bool
    tipping_means: tuple[float, ...]
    stratified: bool = False


@dataclass(frozen=True)
class MissingPart:
    """Missing outcomes of an arm: their number, their mean, and their share of the arm, weighted like the effect."""

    n: int
    share: float
    mean: float


def missing_part(filled: Completed, arm: int, weights: Floats | None = None) -> MissingPart:
    """Describe the missing outcomes of an arm, weighting strata by `weights` (None: numbers of patients)."""
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
    """Return the means from 0 to 1 at which an interval touches 0; it moves by sign·share per unit of the mean.

    >>> tipping_values(MissingPart(20, 0.2, 0.5), (0.03, 0.21), 1.0)
    (0.35,)
    >>> tipping_values(MissingPart(20, 0.1, 0.5), (0.09, 0.21), 1.0)
    ()
    """
    low, high = interval
    ends = (low, high) if low <= 0.0 <= high else (low,) if low > 0.0 else (high,)
    found = (part.mean - end / (sign * part.share) for end in ends)
    return tuple(sorted(round(one, 12) for one in found if 0.0 <= one <= 1.0))


COMPLETE_CASES: Final = "complete cases"
LATENT: Final = "latent ignorability"


@dataclass(frozen=True)
class Alternative(OfPair):
    """Effect under another assumption on missing outcomes: complete cases or latent ignorability.

    Its set is marked approximate: it covers if this assumption is true, but may not if outcomes are missing at
    random.
    """

    assumption: str
    difference: Quantity
    stratified: bool = False


@dataclass(frozen=True)
class Sensitivity:
    """Effects under other assumptions on missing outcomes."""

    alternatives: tuple[Alternative, ...] = ()
    tipping_points: tuple[TippingPoint, ...] = ()


def sensitivity(cells: Cells, level: float = 0.95, *, by_patients: bool = False) -> Sensitivity:
    """Compute alternatives and tipping points for each pair of arms with a missing outcome.

    If there are strata, complete cases and tipping points are for the stratified comparison, with its weights (for
    `by_patients` see `effects`).
    """
    filled = completed(cells)
    alternatives: list[Alternative] = []
    points: list[TippingPoint] = []
    for arms in pairs_of(len(cells.arms), cells.control):
        n_assigned, n_known = (table[:, list(arms)].sum() for table in (cells.assigned, cells.n))
        if n_known and n_known < n_assigned:
            pair = PairOfArms(filled, *arms, level, stratified=bool(cells.strata), by_patients=by_patients)
            alternatives += _alternatives(cells, pair)
            points += _tipping_points(pair)
    return Sensitivity(tuple(alternatives), tuple(points))


def _alternatives(cells: Cells, pair: PairOfArms) -> Iterator[Alternative]:
    known = completed(replace(cells, assigned=cells.n, sizes=cells.by_stratum_patients))
    by_assignment = intention_to_treat(replace(pair, filled=known))
    compliers = complier_comparison(replace(pair, filled=known.reported))
    for one in (by_assignment, compliers):
        yield Alternative(one.view, *pair.names, COMPLETE_CASES, _approximate(one.difference), pair.stratified)
    latent = _approximate(latent_effect(cells, *pair.arms, pair.level))
    yield Alternative(View.COMPLIERS, *pair.names, LATENT, latent)


def _approximate(given: Quantity) -> Quantity:
    """Keep the first set only, marked approximate: it may not cover if outcomes are missing at random."""
    return with_validity(replace(given, sets=given.sets[:1]), Validity.APPROXIMATE)


def _tipping_points(pair: PairOfArms) -> Iterator[TippingPoint]:
    intervals = {View.INTENTION_TO_TREAT: _assigned_interval(pair), View.COMPLIERS: assignment_interval(pair)}
    weights = pair.weights if pair.stratified else None
    for view, interval in intervals.items():
        if interval is None:
            continue
        for arm, name, sign in zip(pair.arms, pair.names, (1.0, -1.0), strict=True):
            part = missing_part(pair.filled, arm, weights)
            if part.n and part.share > 0.0:
                contains_zero, means = interval[0] <= 0.0 <= interval[1], tipping_values(part, interval, sign)
                yield TippingPoint(view, *pair.names, name, part.n, part.mean, contains_zero, means, pair.stratified)


def _assigned_interval(pair: PairOfArms) -> tuple[float, float] | None:
    found = intention_to_treat(pair).difference
    if not found.sets or found.sets[0].shape is not Shape.INTERVAL:
        return None
    return found.sets[0].low, found.sets[0].high
