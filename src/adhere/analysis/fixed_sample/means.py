"""The mean outcome of each arm by three analysis sets, with its interval; needs neither SciPy nor statsmodels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adhere.analysis.cells import Cells, cells_of
from adhere.analysis.confidence_set import ConfidenceSet, Quantity, Validity
from adhere.analysis.records import Records
from adhere.analysis.view import View as View
from adhere.intervals import RewardSums, mean_interval, wilson

_LEAST_VARIANCE = 1e-12  # of rewards from 0 to 1: below it, what is left is rounding


@dataclass(frozen=True)
class ArmMean:
    """The mean outcome of one arm, as one view counts it."""

    view: View
    arm: str
    mean: Quantity


def validity_of(view: View) -> Validity:
    """What the fixed-sample interval of a view promises: as-treated and per-protocol have no estimand to cover."""
    return Validity.APPROXIMATE if view in (View.AS_TREATED, View.PER_PROTOCOL) else Validity.FIXED


def mean_of(sums: RewardSums, level: float = 0.95, validity: Validity = Validity.FIXED) -> Quantity:
    """The mean with Wilson's interval, or Student's where outcomes are not 0 or 1.

    Where they do not vary, or there is one alone, their variance cannot be estimated; it is at most that of outcomes
    0 or 1 with the same mean, for which Wilson's interval is taken then.

    >>> print(mean_of(RewardSums(10, 8.0, 8.0)).sets[0])
    [0.490, 0.943]
    """
    if not sums.n:
        return Quantity(None, reason="no outcome is known")
    mean = min(1.0, sums.total / sums.n)
    spread = variance_of(sums)
    if sums.binary or spread == 0.0:
        method, (low, high) = "Wilson", wilson(min(sums.total, float(sums.n)), sums.n, level)
    else:
        method, (low, high) = "Student", mean_interval(mean, spread, sums.n, level)
    return Quantity(mean, (ConfidenceSet(low, high, method, validity, level=level),), sums.n)


def variance_of(sums: RewardSums) -> float:
    """The unbiased variance of the outcomes; 0 where they do not vary or there is one alone."""
    if sums.n < 2:
        return 0.0
    squares = (sums.squares - sums.total * sums.total / sums.n) / (sums.n - 1)
    return squares if squares > _LEAST_VARIANCE else 0.0


def arm_means(
    view: View, arms: Sequence[str], sums: Sequence[RewardSums], level: float = 0.95
) -> tuple[ArmMean, ...]:
    """The mean of each arm from its sums, which a live trial counts in one pass."""
    validity = validity_of(view)
    return tuple(ArmMean(view, arm, mean_of(one, level, validity)) for arm, one in zip(arms, sums, strict=True))


def means_of(cells: Cells, level: float = 0.95) -> tuple[ArmMean, ...]:
    """The means of all arms by intention-to-treat, as-treated and per-protocol, from counts and sums."""
    views = {
        View.INTENTION_TO_TREAT: cells.by_chosen(),
        View.AS_TREATED: cells.by_actual(),
        View.PER_PROTOCOL: cells.as_assigned(),
    }
    return tuple(one for view, sums in views.items() for one in arm_means(view, cells.arms, sums, level))


def means(records: Records, level: float = 0.95) -> tuple[ArmMean, ...]:
    """The means of all arms by intention-to-treat, as-treated and per-protocol."""
    return means_of(cells_of(records), level)
