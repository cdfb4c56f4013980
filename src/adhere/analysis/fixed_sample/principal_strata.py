"""Principal strata of two arms: shares and mean outcomes of always-takers, never-takers and compliers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from adhere.analysis.bounding.observed_cells import cell_limits
from adhere.analysis.cells import Cells, cells_of
from adhere.analysis.estimates import ConfidenceSet, Quantity, Shape, Validity
from adhere.analysis.fixed_sample.assigned_moments import TAKEN, TREATED, UNTREATED, Assigned, TwoAssigned, Weights
from adhere.analysis.fixed_sample.compliers import assigned_pair
from adhere.analysis.fixed_sample.means import mean_of
from adhere.analysis.fixed_sample.missing_at_random import completed
from adhere.analysis.fixed_sample.two_arms import compare_groups
from adhere.analysis.records import TOOK_OTHER, Records
from adhere.analysis.sentences import say
from adhere.intervals import RewardSums

ALWAYS, NEVER_TAKERS, COMPLIERS = "always-takers", "never-takers", "compliers"
TREATED_COMPLIERS, UNTREATED_COMPLIERS = "compliers, treated", "compliers, untreated"


@dataclass(frozen=True)
class PrincipalStrata:
    """Shares and mean outcomes of always-takers, never-takers and compliers, for two arms without defiers.

    The keys of `shares` are "always-takers", "never-takers" and "compliers". The keys of `means` are "always-takers",
    "never-takers", "compliers, treated" and "compliers, untreated". If both are empty, `reason` says why.
    """

    shares: Mapping[str, Quantity] = field(default_factory=dict)
    means: Mapping[str, Quantity] = field(default_factory=dict)
    reason: str = ""
    note: str = ""
    refuted: bool = False  # a negative share of compliers refutes "no defiers"


def principal_strata(records: Records, *, adaptive: bool = False, level: float = 0.95) -> PrincipalStrata:
    """Split the patients of two arms by what they would take under either assignment.

    A patient assigned the control who takes the treatment is an always-taker. A patient assigned the treatment who
    does not take it is a never-taker. Among the other patients, these types are mixed with compliers; the means of
    compliers follow by subtraction. `adaptive` makes all limits any-time valid. This needs an allocation that
    depended on the past but not on the patient: patients assigned one arm are then alike.

    References
    ----------
    Angrist, Imbens and Rubin (1996), Journal of the American Statistical Association 91; Imbens and Rubin (1997),
    Review of Economic Studies 64; Frangakis and Rubin (2002), Biometrics 58.

    """
    cells = cells_of(records)
    found = strata_from(cells, level)
    return _any_time(cells, found, level) if adaptive and found.shares else found


def strata_from(cells: Cells, level: float = 0.95) -> PrincipalStrata:
    """Compute principal strata with fixed-sample limits, given only counts and sums."""
    if len(cells.arms) != 2:
        return PrincipalStrata(reason="there are principal strata of this kind for two arms only")
    control, treatment = cells.control, 1 - cells.control
    took = [_taking(cells, arm, treatment) for arm in (treatment, control)]
    for arm, one in zip((treatment, control), took, strict=True):
        if not one.n:
            return PrincipalStrata(reason=f"what was taken is known of nobody assigned {cells.arms[arm]}")
    compliers = compare_groups(took[0], took[1], level).difference
    shares = {
        ALWAYS: mean_of(took[1], level),
        NEVER_TAKERS: mean_of(_others(took[0]), level),
        COMPLIERS: compliers,
    }
    note, refuted = say("complier_assumptions"), compliers.sets[0].high < 0.0
    if compliers.value is not None and compliers.value < 0.0:
        low, high = (f"{100 * one.total / one.n:.1f}%" for one in took)
        names = {"treatment": cells.arms[treatment], "control": cells.arms[control]}
        note = say("defiers" if refuted else "perhaps_defiers", **names, low=low, high=high)
        shares[COMPLIERS] = Quantity(None, compliers.sets, compliers.n, note)
    return PrincipalStrata(shares, _means(cells, treatment, control, level), note=note, refuted=refuted)


def _any_time(cells: Cells, found: PrincipalStrata, level: float) -> PrincipalStrata:
    control, treatment = cells.control, 1 - cells.control
    took = _taking(cells, treatment, treatment), _taking(cells, control, treatment)
    (low, high), (control_low, control_high) = (_limits(one.total, one.n, level, 2) for one in took)
    pair = assigned_pair(completed(cells).reported, treatment, control)
    shares, means = found.shares, found.means
    return replace(
        found,
        shares={
            ALWAYS: any_time_mean(shares[ALWAYS], took[1], level),
            NEVER_TAKERS: any_time_mean(shares[NEVER_TAKERS], _others(took[0]), level),
            COMPLIERS: _with_limits(shares[COMPLIERS], (low - control_high, high - control_low), level),
        },
        means={
            ALWAYS: any_time_mean(means[ALWAYS], pair.control.known_takers, level),
            NEVER_TAKERS: any_time_mean(means[NEVER_TAKERS], pair.treatment.known_others, level),
            TREATED_COMPLIERS: any_time_complier_mean(means[TREATED_COMPLIERS], pair, treated=True, level=level),
            UNTREATED_COMPLIERS: any_time_complier_mean(means[UNTREATED_COMPLIERS], pair, treated=False, level=level),
        },
    )


def _taking(cells: Cells, arm: int, treatment: int) -> RewardSums:
    """Return "took the treatment" as a 0/1 outcome, for patients of an arm who reported what they took."""
    row = cells.patients[arm]
    takers, n = int(row[treatment]), int(row[:2].sum() + row[TOOK_OTHER:].sum())
    return RewardSums(n, float(takers), float(takers))


def _others(taking: RewardSums) -> RewardSums:
    rest = taking.n - taking.total
    return RewardSums(taking.n, rest, rest)


def _means(cells: Cells, treatment: int, control: int, level: float) -> dict[str, Quantity]:
    found = {
        ALWAYS: _exact_mean(cells.cell(control, treatment), level),
        NEVER_TAKERS: _exact_mean(cells.others(treatment, treatment), level),
    }
    for name in (ALWAYS, NEVER_TAKERS):
        if found[name].value is None:
            found[name] = Quantity(None, reason=f"no outcome of {name} is known")
    pair = assigned_pair(completed(cells).reported, treatment, control)
    found[TREATED_COMPLIERS], found[UNTREATED_COMPLIERS] = complier_means(pair, level)
    return found


def _exact_mean(sums: RewardSums, level: float) -> Quantity:
    """Return the mean of a group that may be small, with Clopper and Pearson's limits for outcomes 0 or 1."""
    found = mean_of(sums, level)
    if not sums.n or not sums.binary:
        return found
    low, high = cell_limits(np.array([sums.total]), np.array([float(sums.n)]), level, 1, any_time=False)
    exact = ConfidenceSet(float(low[0]), float(high[0]), "Clopper–Pearson", level=level)
    return replace(found, sets=(exact,))


def complier_means(pair: TwoAssigned, level: float = 0.95) -> tuple[Quantity, Quantity]:
    """Return the compliers' mean outcomes with and without treatment (Abadie 2002), with Fieller's sets.

    If nobody assigned the control took the treatment, all takers are compliers, so that Wilson's (or Student's)
    interval is valid. The same holds for the untreated if everybody assigned the treatment took it.
    """
    if not min(pair.treatment.n_known, pair.control.n_known, *pair.n_reported):
        nothing = Quantity(None, reason="what was taken and the outcome are known of nobody in one of the arms")
        return nothing, nothing
    if pair.contrast(TAKEN) <= 0.0:
        nothing = Quantity(None, n=pair.n, reason="assignment did not make more people take the treatment")
        return nothing, nothing
    treated = _plain_mean(pair.treatment.takers, pair.treatment.known_takers, pair.control.takers.n, level)
    untreated = _plain_mean(pair.control.others, pair.control.known_others, pair.treatment.others.n, level)
    if not pair.treatment.has_outcomes or not pair.control.has_outcomes:
        nothing = Quantity(None, n=pair.n, reason=say("no_outcomes"))
        return treated or nothing, untreated or nothing
    return treated or _complier_mean(pair, TREATED, level), untreated or _complier_mean(pair, UNTREATED, level)


def _plain_mean(group: RewardSums, known: RewardSums, n_others: int, level: float) -> Quantity | None:
    """Return the mean of a group; None if it has others besides compliers, or if strata change the mean."""
    if n_others or not known.n or not math.isclose(group.total * known.n, known.total * group.n, abs_tol=1e-9):
        return None
    return mean_of(known, level)


def _complier_mean(pair: TwoAssigned, weights: Weights, level: float) -> Quantity:
    value = pair.contrast(weights) / pair.contrast(TAKEN)
    if not pair.has_variances:
        return Quantity(value, n=pair.n, reason=say("single_patient"))
    found = pair.fieller(weights, TAKEN, level, smoothed=True)
    if not 0.0 <= value <= 1.0:
        reason = "the estimate is not from 0 to 1, as means are: by chance, or because the assumptions fail"
        return Quantity(value, (found,), pair.n, reason)
    if found.shape is Shape.INTERVAL:
        found = replace(found, low=max(0.0, found.low), high=min(1.0, found.high))
    return Quantity(value, (found,), pair.n)


_METHOD = "limits on cells (Robbins)"
Ends = tuple[float, float]


def any_time_mean(found: Quantity, outcomes: RewardSums, level: float) -> Quantity:
    """Replace the limits of a mean by any-time valid ones; the mean is a share if outcomes are 0 or 1."""
    return _with_limits(found, _limits(outcomes.total, outcomes.n, level, 1), level)


def any_time_complier_mean(found: Quantity, pair: TwoAssigned, *, treated: bool, level: float) -> Quantity:
    """Replace the limits of the compliers' mean, with or without the treatment, by any-time valid ones.

    Let A and B be the shares of compliers with an outcome of 1 and of 0; each is a non-negative difference between
    the two arms assigned. The mean is A / (A + B), which is smallest if A is smallest and B is largest.
    """
    cells = [_with_one_and_zero(one, treated=treated, level=level) for one in (pair.treatment, pair.control)]
    with_one, with_zero = [one for one, _ in cells], [zero for _, zero in cells]
    if not treated:  # more patients are untreated when assigned the control
        with_one, with_zero = with_one[::-1], with_zero[::-1]
    (one_low, one_high), (zero_low, zero_high) = _difference(with_one), _difference(with_zero)
    low = one_low / (one_low + zero_high) if one_low > 0.0 else 0.0
    high = one_high / (one_high + zero_low) if one_high > 0.0 else 0.0
    return _with_limits(found, (low, max(low, high)), level)


def _with_one_and_zero(arm: Assigned, *, treated: bool, level: float) -> tuple[Ends, Ends]:
    """Return limits on the shares of an arm's patients who took the treatment (or not), by outcome: 1, then 0.

    If outcomes are missing, each share is the share of that group, times the share of the outcome among its known
    outcomes.
    """
    group, n_group = (arm.known_takers, arm.takers.n) if treated else (arm.known_others, arm.others.n)
    n = arm.n_reported
    if group.n == n_group:
        return _limits(group.total, n, level, 4), _limits(group.n - group.total, n, level, 4)
    share, mean = _limits(n_group, n, level, 4), _limits(group.total, group.n, level, 4)
    return (share[0] * mean[0], share[1] * mean[1]), (share[0] * (1.0 - mean[1]), share[1] * (1.0 - mean[0]))


def _limits(total: float, n: int, level: float, n_cells: int) -> Ends:
    low, high = cell_limits(np.array([float(total)]), np.array([float(n)]), level, n_cells, any_time=True)
    return float(low[0]), float(high[0])


def _difference(limits: list[Ends]) -> Ends:
    (low, high), (control_low, control_high) = limits
    return max(0.0, low - control_high), max(0.0, high - control_low)


def _with_limits(found: Quantity, ends: Ends, level: float) -> Quantity:
    if found.value is None and not found.sets:
        return found
    return replace(found, sets=(ConfidenceSet(*ends, _METHOD, Validity.ANY_TIME, level=level),))
