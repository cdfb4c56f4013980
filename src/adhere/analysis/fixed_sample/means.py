"""Mean outcome of each arm by three analysis sets, with intervals. Needs neither SciPy nor statsmodels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adhere.analysis.estimates import ConfidenceSet, Quantity, Validity, View
from adhere.analysis.fixed_sample.missing_at_random import Completed
from adhere.intervals import RewardSums, mean_interval, wilson

_LEAST_VARIANCE = 1e-12  # smaller variances of rewards from 0 to 1 are rounding errors
_WHO = {
    View.INTENTION_TO_TREAT: "assigned {arm}",
    View.AS_TREATED: "who took {arm}",
    View.PER_PROTOCOL: "who were assigned {arm} and took it",
}


@dataclass(frozen=True)
class ArmMean:
    """Mean outcome of one arm by one view."""

    view: View
    arm: str
    mean: Quantity


def validity_of(view: View) -> Validity:
    """Return the validity of a view's fixed-sample interval: approximate for views without an estimand."""
    return Validity.APPROXIMATE if view in (View.AS_TREATED, View.PER_PROTOCOL) else Validity.FIXED


def mean_of(
    sums: RewardSums, level: float = 0.95, validity: Validity = Validity.FIXED, *, information: float = 1.0
) -> Quantity:
    """Return the mean with Wilson's interval, or Student's interval if outcomes are not all 0 or 1.

    If some outcomes are completed, `information` is the fraction of the patients that the known outcomes are worth.

    If outcomes do not vary, or there is only one, their variance cannot be estimated. It is at most the variance of
    outcomes 0 or 1 with the same mean, so Wilson's interval is used.

    >>> print(mean_of(RewardSums(10, 8.0, 8.0)).sets[0])
    [0.490, 0.943]
    """
    if not sums.n:
        return Quantity(None, reason="no outcome is known")
    mean = min(1.0, sums.total / sums.n)
    spread = variance_of(sums)
    n = max(1.0, sums.n * information)
    if sums.binary or spread == 0.0:
        method, (low, high) = "Wilson", wilson(min(sums.total * (n / sums.n), n), n, level)
    else:
        method, (low, high) = "Student", mean_interval(mean, spread, n, level)
    return Quantity(mean, (ConfidenceSet(low, high, method, validity, level=level),), sums.n)


def variance_of(sums: RewardSums) -> float:
    """Return the unbiased variance of the outcomes; 0 if they do not vary or there is only one."""
    if sums.n < 2:
        return 0.0
    squares = (sums.squares - sums.total * sums.total / sums.n) / (sums.n - 1)
    return squares if squares > _LEAST_VARIANCE else 0.0


def arm_means(
    view: View, arms: Sequence[str], sums: Sequence[RewardSums], level: float = 0.95
) -> tuple[ArmMean, ...]:
    """Return the mean of each arm, given the sums that a live trial counts in one pass."""
    validity = validity_of(view)
    return tuple(_named_mean(view, arm, mean_of(one, level, validity)) for arm, one in zip(arms, sums, strict=True))


def no_outcome(view: View, arm: str) -> str:
    """Return the reason for a missing mean: no patient of the arm, as the view counts them, has a known outcome.

    >>> no_outcome(View.AS_TREATED, "drug")
    'no outcome is known of patients who took drug'
    """
    return f"no outcome is known of patients {_WHO[view].format(arm=arm)}"


def _named_mean(view: View, arm: str, mean: Quantity) -> ArmMean:
    return ArmMean(view, arm, replace(mean, reason=no_outcome(view, arm)) if mean.value is None else mean)


def means_of(filled: Completed, level: float = 0.95) -> tuple[ArmMean, ...]:
    """Return the means of all arms by intention-to-treat, as-treated and per-protocol, given counts and sums.

    Intention-to-treat assumes outcomes missing at random (see `Completed`); the other views use known outcomes only.
    """
    cells = filled.known
    views = {View.AS_TREATED: cells.by_actual(), View.PER_PROTOCOL: cells.as_assigned()}
    assigned = tuple(assigned_mean(filled, arm, level) for arm in range(len(cells.arms)))
    return assigned + tuple(one for view, sums in views.items() for one in arm_means(view, cells.arms, sums, level))


def assigned_mean(filled: Completed, arm: int, level: float = 0.95) -> ArmMean:
    """Return the mean of patients assigned an arm; its `n` counts known outcomes."""
    name, n = filled.known.arms[arm], filled.known.by_chosen()[arm].n
    if why := filled.why_no_mean(arm):
        return ArmMean(View.INTENTION_TO_TREAT, name, Quantity(None, n=n, reason=why))
    validity = Validity.APPROXIMATE if filled.n_borrowed(arm) else Validity.FIXED
    mean = mean_of(filled.cells.by_chosen()[arm], level, validity, information=filled.information(arm))
    return _named_mean(View.INTENTION_TO_TREAT, name, replace(mean, n=n))
