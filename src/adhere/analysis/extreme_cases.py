"""How far missing values could move an effect: all of them at their worst, or at their best, for the treatment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from adhere.analysis.cells import Cells, cells_of
from adhere.analysis.confidence_set import ConfidenceSet, Validity
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Records
from adhere.analysis.view import View
from adhere.intervals import newcombe


@dataclass(frozen=True)
class ExtremeCase:
    """An effect with every missing value at its worst (`low`) and at its best (`high`) for the treatment.

    `limits` reaches from the lower end of the confidence interval at the worst to the upper end of that at the best.
    """

    view: View
    treatment: str
    control: str
    low: float
    high: float
    limits: ConfidenceSet


@dataclass(frozen=True)
class _Sum:
    """Of n values from 0 to 1 those that are known sum to `least`; with the others all 1, to `most`."""

    n: int
    least: float
    most: float


@dataclass(frozen=True)
class _Range:
    """A difference of means at its worst and its best, and its confidence limits."""

    low: float
    high: float
    limits: tuple[float, float]


def extreme_cases(records: Records, adaptive: bool, level: float) -> Iterator[ExtremeCase]:
    """Of each pair of arms of which values are missing."""
    cells = cells_of(records)
    patients, known = cells.patients.sum(axis=1), cells.n.sum(axis=(0, 2))
    total = cells.total.sum(axis=(0, 2))
    outcomes = [_Sum(int(n), float(s), float(s + n - k)) for n, k, s in zip(patients, known, total, strict=True)]
    for treatment, control in records.pairs:
        one, other = outcomes[treatment], outcomes[control]
        if not one.n or not other.n:
            continue
        names = records.arms[treatment], records.arms[control]
        unknown = patients[treatment] > known[treatment] or patients[control] > known[control]
        if unknown:
            found = _difference(one, other, level, adaptive)
            yield ExtremeCase(
                View.INTENTION_TO_TREAT, *names, found.low, found.high, _set(found.limits, level, adaptive)
            )
        if unknown or cells.patients[[treatment, control], NOT_KNOWN].any():
            yield from _compliers(records, cells, (one, other), (treatment, control), adaptive, level)


def _difference(one: _Sum, other: _Sum, level: float, any_time: bool) -> _Range:
    low, high = one.least / one.n - other.most / other.n, one.most / one.n - other.least / other.n
    if any_time:
        from adhere.analysis.cell_limits import cell_limits

        n = np.array([one.n, other.n, one.n, other.n], dtype=np.float64)
        sums = np.minimum([one.least, other.most, one.most, other.least], n)
        lows, highs = cell_limits(sums, n, level, 2, any_time=True)
        return _Range(low, high, (float(lows[0] - highs[1]), float(highs[2] - lows[3])))
    lowest, _ = newcombe(one.least, one.n, min(other.most, other.n), other.n, level)
    _, highest = newcombe(min(one.most, one.n), one.n, other.least, other.n, level)
    return _Range(low, high, (lowest, highest))


def _compliers(
    records: Records,
    cells: Cells,
    outcomes: tuple[_Sum, _Sum],
    pair: tuple[int, int],
    adaptive: bool,
    level: float,
) -> Iterator[ExtremeCase]:
    """The difference by assignment over that in who took the treatment, each with half of the error (Bonferroni).

    An effect on outcomes from 0 to 1 lies between -1 and 1, however small the share of compliers.
    """
    treatment, control = pair
    if records.n_arms > 2 or cells.patients[:, [TOOK_NOTHING, TOOK_OTHER]].any():
        return
    took, took_control = (_takers(cells, chosen, treatment) for chosen in pair)
    each = (1.0 + level) / 2
    effect, share = _difference(*outcomes, each, adaptive), _difference(took, took_control, each, adaptive)
    if share.low <= 0.0:
        return
    low, high = _ratio((effect.low, effect.high), (share.low, share.high))
    limits = _ratio(effect.limits, share.limits)
    yield ExtremeCase(
        View.COMPLIERS, records.arms[treatment], records.arms[control], low, high, _set(limits, level, adaptive)
    )


def _takers(cells: Cells, chosen: int, treatment: int) -> _Sum:
    row = cells.patients[chosen]
    return _Sum(int(row.sum()), float(row[treatment]), float(row[treatment] + row[NOT_KNOWN]))


def _ratio(above: tuple[float, float], below: tuple[float, float]) -> tuple[float, float]:
    if below[0] <= 0.0:
        return -1.0, 1.0
    every = [numerator / denominator for numerator in above for denominator in below]
    return max(-1.0, min(every)), min(1.0, max(every))


def _set(ends: tuple[float, float], level: float, adaptive: bool) -> ConfidenceSet:
    method, validity = ("Robbins' mixture", Validity.ANY_TIME) if adaptive else ("Newcombe", Validity.FIXED)
    return ConfidenceSet(*ends, f"{method} at the extremes", validity, level=level)
