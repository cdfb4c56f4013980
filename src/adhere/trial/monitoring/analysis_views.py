"""Convert parts of an analysis to plain values for a monitor, each estimate with its interval."""

import math
from datetime import UTC, datetime
from typing import Final

import numpy as np
from msgspec import convert

from adhere.analysis.adaptive.allocation_check import AllocationCheck
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.adaptive.surplus import Surplus
from adhere.analysis.analysis import Analysis
from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Shape, Validity, View
from adhere.analysis.records import Floats, Records
from adhere.analysis.trust.mediation import Mediation
from adhere.design.make_look_rules import LookNames
from adhere.looks.judge import NAMES
from adhere.trial.domain.state import TrialState
from adhere_client.responses import monitor
from adhere_client.responses.monitor import (
    AllocationOverTime,
    AssignedRow,
    Effect,
    Estimate,
    PresentValues,
    SurplusOverTime,
    Taken,
)
from adhere_client.responses.trials import ArmAtLook, LookThreshold

_SURPLUS = (
    "Expected outcomes gained by all patients so far, compared with drawing every arm with equal probability: the "
    "effect of each arm times the increase of its probability. The interval follows from the any-time valid "
    "intervals of the effects."
)
_EXACT = (View.INTENTION_TO_TREAT, View.COMPLIERS)


def quantity_view(given: Quantity) -> Estimate:
    """Return the estimate of a quantity with its preferred confidence set, the first one."""
    low, high = _ends(given.sets[0]) if given.sets else (None, None)
    return Estimate(given.value, low, high, given.reason)


def _ends(given: ConfidenceSet) -> tuple[float | None, float | None]:
    if given.shape is not Shape.INTERVAL:
        return None, None
    low, high = (end if math.isfinite(end) else None for end in (given.low, given.high))
    return low, high


def assigned_rows(analysis: Analysis) -> list[AssignedRow]:
    """Return the counts of patients by the arm assigned and the arm taken."""
    return [
        AssignedRow(
            arm=one.arm,
            assigned=one.assigned,
            took={arm: one.took_it if arm == one.arm else one.took_others[arm] for arm in analysis.arms},
            took_nothing=one.took_nothing,
            took_other=one.took_other,
            not_reported=one.not_reported,
            lost=one.lost,
            outcomes=one.outcome_known,
            compliance=quantity_view(one.compliance),
        )
        for one in analysis.flow.arms
    ]


def effect_views(analysis: Analysis) -> list[Effect]:
    """Return the any-time valid effects, followed by the effects that have only fixed-sample intervals."""
    found = [_of_sequence(one) for one in analysis.sequences]
    left = [one for one in View if not analysis.sequences or one not in _EXACT]
    compared = [one for one in analysis.effects.comparisons if one.control == analysis.control and one.view in left]
    return found + [_of_comparison(one) for one in compared if not _is_worse_of_two(one, compared)]


def _is_worse_of_two(given: Comparison, compared: list[Comparison]) -> bool:
    """Return whether a comparison ignores strata although a stratified version of the comparison exists."""
    same = (one for one in compared if (one.view, one.treatment) == (given.view, given.treatment))
    return not given.stratified and any(one.stratified for one in same)


def _of_sequence(given: ConfidenceSequence) -> Effect:
    is_empty = given.final.shape is Shape.EMPTY
    return Effect(
        view=given.view.value,
        treatment=given.treatment,
        control=given.control,
        estimate=Estimate(given.estimate, *_ends(given.final), reason=given.note if is_empty else ""),
        validity=given.final.validity.value,
        is_any_time_valid=given.final.validity is Validity.ANY_TIME,
        note=given.note,
        n=given.n_used,
        n_pending=given.n_pending,
        p_value=given.p_value,
        t=given.t.tolist(),
        low=given.low.tolist(),
        high=given.high.tolist(),
    )


def _of_comparison(given: Comparison) -> Effect:
    validity = given.difference.sets[0].validity if given.difference.sets else None
    return Effect(
        view=given.view.value,
        treatment=given.treatment,
        control=given.control,
        estimate=quantity_view(given.difference),
        validity=validity.value + ", if missing at random" * given.at_random if validity else "",
        is_any_time_valid=False,
        note=given.note,
        n=given.difference.n,
    )


def taken_view(given: Mediation) -> Taken:
    """Return whether the data suggest that the treatment taken depends on prognosis."""
    return Taken(bool(given.refuted or given.differs), given.sentence)


def allocation_check_view(given: AllocationCheck | None) -> monitor.AllocationCheck | None:
    """Return the allocation check by arm, or None if there is none."""
    if given is None:
        return None
    observed = dict(zip(given.arms, given.observed, strict=True))
    expected = dict(zip(given.arms, given.expected, strict=True))
    return monitor.AllocationCheck(observed, expected, given.log_e, given.rejected, given.sentence)


def surplus_view(given: Surplus) -> SurplusOverTime:
    """Return the surplus over equal allocation, now and over time."""
    ends = given.low.tolist(), given.high.tolist()
    return SurplusOverTime(quantity_view(given.total), _SURPLUS, given.t.tolist(), *ends)


MAX_POINTS: Final = 200


def allocation_over_time(records: Records, at: Floats) -> AllocationOverTime:
    """Return the number assigned to each arm over time, and the arm's mean probability between consecutive times.

    >>> chosen, half = np.array([0, 1, 1]), np.full((3, 2), 0.5)
    >>> records = Records("a", "b", ("old", "new"), chosen, chosen, np.ones(3), probabilities=half)
    >>> allocation_over_time(records, np.arange(3.0)).assigned
    {'old': [1, 1, 1], 'new': [0, 1, 2]}
    """
    n = len(records)
    if not n:
        return AllocationOverTime([], [], {arm: [] for arm in records.arms}, {arm: [] for arm in records.arms})
    times = np.unique(np.linspace(1, n, min(n, MAX_POINTS)).round().astype(np.int64))
    assigned, probability = {}, {}
    for number, arm in enumerate(records.arms):
        assigned[arm] = np.cumsum(records.chosen == number)[times - 1].tolist()
        probability[arm] = _mean_between(records, number, times)
    moments = [datetime.fromtimestamp(seconds, UTC) for seconds in at[times - 1].tolist()]
    return AllocationOverTime(times.tolist(), moments, assigned, probability)


def _mean_between(records: Records, arm: int, times: np.typing.NDArray[np.int64]) -> list[float | None]:
    if records.probabilities is None:
        return [None] * len(times)
    own = records.probabilities[:, arm]
    starts = np.concatenate([[0], times[:-1]])
    sums = np.add.reduceat(np.nan_to_num(own), starts)
    known = np.add.reduceat(~np.isnan(own), starts)
    return [float(total / count) if count else None for total, count in zip(sums, known, strict=True)]


def present_values(state: TrialState) -> PresentValues | None:
    """Return the present values for the next look. Return None if no look is to come or its rule needs all
    patients.
    """
    looks, looker, design = state.looks, state.looker, state.design
    if looks is None or looker is None or state.status == "closed":
        return None
    plan, number = looker.plan, looks.next_look
    if number >= plan.n_looks or looker.needs_patients:
        return None
    names = LookNames(design)
    thresholds = names.thresholds(number)
    if not thresholds:
        return None
    beliefs = state.engine.beliefs(state.policy_state, state.n_recommendations) if looker.needs_beliefs else ()
    found = looker.find(number, looks, beliefs, ())
    n_days = len(plan.days)
    return PresentValues(
        look=number + 1,
        outcomes=looks.n_outcomes,
        arms=[
            ArmAtLook(arm, NAMES[looks.status[i]], names.named(found.values[i])) for i, arm in enumerate(design.arms)
        ],
        thresholds=convert(thresholds, dict[str, LookThreshold], from_attributes=True),
        due_at=None if number < n_days else plan.counts[number - n_days],
        due_day=plan.days[number] if number < n_days else None,
    )
