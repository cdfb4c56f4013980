"""Worst-case bounds: effects if all missing values were at their worst, or at their best, for the treatment."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from adhere.analysis.cells import Cells
from adhere.analysis.estimates import ConfidenceSet, OfPair, Validity, View
from adhere.analysis.fixed_sample.intervals import TwoProportions, score_difference
from adhere.analysis.fixed_sample.means import variance_of
from adhere.analysis.fixed_sample.two_arms import compare_strata
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, pairs_of
from adhere.intervals import RewardSums


@dataclass(frozen=True)
class ExtremeCase(OfPair):
    """Effect with every missing value at its worst (`low`) and at its best (`high`) for the treatment.

    `limits` is from the smallest lower end of the confidence interval to its largest upper end, over all possible
    values of the missing outcomes or reports. A `stratified` case has the weights of the stratified comparison.
    """

    low: float
    high: float
    limits: ConfidenceSet
    stratified: bool = False


@dataclass(frozen=True)
class _Arm:
    """Known values (from 0 to 1) of patients assigned an arm, and the number of patients without a known value."""

    known: RewardSums
    n_unknown: int

    @property
    def n(self) -> int:
        return self.known.n + self.n_unknown

    @property
    def least(self) -> float:
        """Sum of all values if the unknown ones are 0."""
        return min(self.known.total, float(self.known.n))

    @property
    def most(self) -> float:
        """Sum of all values if the unknown ones are 1."""
        return self.least + self.n_unknown


@dataclass(frozen=True)
class _Range:
    """Worst and best case of a difference of means, with confidence limits."""

    low: float
    high: float
    limits: tuple[float, float]
    method: str


def extreme_cases(
    cells: Cells, adaptive: bool, level: float, by_patients: bool = False
) -> tuple[tuple[ExtremeCase, ...], str]:
    """Return the cases for each pair of arms with missing values, and the reason if compliers have no case."""
    n_assigned = cells.patients.sum(axis=1).tolist()
    arms = [_Arm(known, n - known.n) for n, known in zip(n_assigned, cells.by_chosen(), strict=True)]
    cases, why = [], ""
    for treatment, control in pairs_of(len(cells.arms), cells.control):
        one, other = arms[treatment], arms[control]
        if not one.n or not other.n:
            continue
        found: list[tuple[View, _Range, bool]] = []
        unknown = one.n_unknown or other.n_unknown
        if unknown:
            if cells.strata and not adaptive:
                by_strata = _stratified(cells, treatment, control, level, by_patients)
                found += [(View.INTENTION_TO_TREAT, by_strata, True)] if by_strata else []
            found.append((View.INTENTION_TO_TREAT, _difference(one, other, level, adaptive), False))
        if unknown or cells.patients[[treatment, control], NOT_KNOWN].any():
            among = _compliers(cells, (one, other), (treatment, control), adaptive, level)
            if isinstance(among, str):
                why = why or among
            else:
                found.append((View.COMPLIERS, among, False))
        validity = Validity.ANY_TIME if adaptive else Validity.FIXED
        for view, ends, stratified in found:
            limits = ConfidenceSet(*ends.limits, f"{ends.method} at the extremes", validity, level=level)
            names = cells.arms[treatment], cells.arms[control]
            cases.append(ExtremeCase(view, *names, ends.low, ends.high, limits, stratified))
    return tuple(cases), why


def _stratified(cells: Cells, treatment: int, control: int, level: float, by_patients: bool) -> _Range | None:
    """Return bounds of the stratified difference, with each arm's missing outcomes all at 0 or all at 1."""
    patients = cells.by_stratum_patients.tolist() if by_patients else None
    values: list[float] = []
    sets: list[ConfidenceSet] = []
    for fills in product((0.0, 1.0), repeat=2):
        arms = [_strata(cells, arm, fill) for arm, fill in zip((treatment, control), fills, strict=True)]
        found = compare_strata(list(zip(*arms, strict=True)), level, patients=patients).difference
        if found.value is None or not found.sets:
            return None
        values.append(found.value)
        sets.append(found.sets[0])
    limits = min(one.low for one in sets), max(one.high for one in sets)
    return _Range(min(values), max(values), limits, sets[-1].method)


def _strata(cells: Cells, arm: int, fill: float) -> list[RewardSums]:
    """Return the outcomes of patients assigned an arm, by stratum, with each missing one set to `fill` (0 or 1)."""
    filled = []
    for known, n in zip(cells.by_stratum(arm), cells.assigned[:, arm].sum(axis=1).tolist(), strict=True):
        more = fill * (n - known.n)
        filled.append(RewardSums(n, known.total + more, known.squares + more, known.binary))
    return filled


def _difference(one: _Arm, other: _Arm, level: float, any_time: bool) -> _Range:
    low, high = one.least / one.n - other.most / other.n, one.most / one.n - other.least / other.n
    if any_time:
        from adhere.analysis.bounding.observed_cells import cell_limits

        n = np.array([one.n, other.n, one.n, other.n], dtype=np.float64)
        sums = np.minimum([one.least, other.most, one.most, other.least], n)
        lows, highs = cell_limits(sums, n, level, 2, any_time=True)
        return _Range(low, high, (float(lows[0] - highs[1]), float(highs[2] - lows[3])), "Robbins' mixture")
    # The score interval moves with the proportions: its lower end is smallest in the worst case, its upper end
    # largest in the best case.
    lowest, _ = score_difference(TwoProportions(one.least, one.n, other.most, other.n), level)
    _, highest = score_difference(TwoProportions(one.most, one.n, other.least, other.n), level)
    if (one.known.binary and other.known.binary) or min(one.n, other.n) < 2:
        return _Range(low, high, (lowest, highest), "Miettinen–Nurminen")
    ends = _welch_at_worst(one, other, level), -_welch_at_worst(other, one, level)
    if not variance_of(one.known) and not variance_of(other.known):  # complete data may not vary, see compare_groups
        ends = min(lowest, ends[0]), max(highest, ends[1])
    return _Range(low, high, ends, "Welch")


def _welch_at_worst(one: _Arm, other: _Arm, level: float) -> float:
    """Return the smallest possible lower end of Welch's interval over all values of the unknown outcomes.

    For a given t, the lower end is concave in each unknown value, so it is smallest if all of them are 0 or 1. It is
    convex in the number of ones. t has the smallest possible degrees of freedom.
    """
    from scipy.optimize import minimize
    from scipy.special import stdtrit

    t = float(stdtrit(min(one.n, other.n) - 1, (1.0 + level) / 2.0))

    def end(shares: Iterable[float]) -> float:
        groups = [_completed(arm, share) for arm, share in zip((one, other), shares, strict=True)]
        spread = sum(variance_of(group) / group.n for group in groups)
        return groups[0].total / groups[0].n - groups[1].total / groups[1].n - t * math.sqrt(spread)

    inside = minimize(end, (0.0, 1.0), method="L-BFGS-B", bounds=((0.0, 1.0), (0.0, 1.0)), options={"ftol": 1e-14})
    return max(-1.0, min(float(inside.fun), *(end(corner) for corner in product((0.0, 1.0), repeat=2))))


def _completed(arm: _Arm, share: float) -> RewardSums:
    """Return the sums with the given share of the unknown values at 1 and the others at 0."""
    ones = arm.n_unknown * float(share)
    return RewardSums(arm.n, arm.known.total + ones, arm.known.squares + ones, binary=False)


def _compliers(
    cells: Cells, assigned: tuple[_Arm, _Arm], pair: tuple[int, int], adaptive: bool, level: float
) -> _Range | str:
    """Return the range of the difference by assignment divided by the difference in takers, or why it has none.

    Each difference has half of the error (Bonferroni). An effect on outcomes from 0 to 1 is between -1 and 1, however
    small the share of compliers. If everybody took what they were assigned, everybody is a complier.
    """
    treatment, control = pair
    if len(cells.arms) > 2:
        return "with more than two arms the effect among compliers is not a ratio of two differences"
    if cells.patients[:, [TOOK_NOTHING, TOOK_OTHER]].any():
        return "some patients took nothing or something else, so that more than two things were taken"
    took, took_control = (_takers(cells, chosen, treatment) for chosen in pair)
    if took.least == took.n and not took_control.most:
        return _difference(*assigned, level, adaptive)
    each = (1.0 + level) / 2
    effect, share = _difference(*assigned, each, adaptive), _difference(took, took_control, each, adaptive)
    if share.low <= 0.0:
        names = cells.arms[treatment], cells.arms[control]
        return f"it is not certain that more of those assigned {names[0]} took it than of those assigned {names[1]}"
    low, high = _ratio((effect.low, effect.high), (share.low, share.high))
    return _Range(low, high, _ratio(effect.limits, share.limits), effect.method)


def _takers(cells: Cells, chosen: int, treatment: int) -> _Arm:
    row = cells.patients[chosen]
    n_unknown, taking = int(row[NOT_KNOWN]), float(row[treatment])
    return _Arm(RewardSums(int(row.sum()) - n_unknown, taking, taking), n_unknown)


def _ratio(above: tuple[float, float], below: tuple[float, float]) -> tuple[float, float]:
    if below[0] <= 0.0:
        return -1.0, 1.0
    every = [numerator / denominator for numerator in above for denominator in below]
    return max(-1.0, min(every)), min(1.0, max(every))
