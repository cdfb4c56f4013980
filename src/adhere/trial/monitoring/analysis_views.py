"""Parts of an analysis as a monitor shows them: plain values, each estimate with its interval."""

from __future__ import annotations

import math

from adhere.analysis.adaptive.allocation_check import AllocationCheck
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.adaptive.surplus import Surplus
from adhere.analysis.analysis import Analysis
from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Shape, Validity, View
from adhere.analysis.trust.mediation import Mediation
from adhere_client.responses import monitor
from adhere_client.responses.monitor import (
    AssignedRow,
    Effect,
    Estimate,
    SurplusOverTime,
    Taken,
)

_SURPLUS = (
    "Outcomes gained, in expectation, by all patients so far over drawing every arm with equal probability: the "
    "effect of each arm times how much likelier it was made. The interval follows from the any-time valid ones of "
    "the effects."
)
_EXACT = (View.INTENTION_TO_TREAT, View.COMPLIERS)


def quantity_view(given: Quantity) -> Estimate:
    """A quantity with the set to trust first."""
    low, high = _ends(given.sets[0]) if given.sets else (None, None)
    return Estimate(given.value, low, high, given.reason)


def _ends(given: ConfidenceSet) -> tuple[float | None, float | None]:
    if given.shape is not Shape.INTERVAL:
        return None, None
    low, high = (end if math.isfinite(end) else None for end in (given.low, given.high))
    return low, high


def assigned_rows(analysis: Analysis) -> list[AssignedRow]:
    """Who was assigned what, and took what."""
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
    """Any-time valid effects first, then the views that have none; without sequences, all by fixed-sample sets."""
    found = [_of_sequence(one) for one in analysis.sequences]
    left = [one for one in View if not analysis.sequences or one not in _EXACT]
    compared = [one for one in analysis.effects.comparisons if one.control == analysis.control and one.view in left]
    return found + [_of_comparison(one) for one in compared if not _is_worse_of_two(one, compared)]


def _is_worse_of_two(given: Comparison, compared: list[Comparison]) -> bool:
    """Whether it ignores strata, and the same is there by strata."""
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
    """Whether the data say that what is taken depends on prognosis."""
    return Taken(bool(given.refuted or given.differs), given.sentence)


def allocation_check_view(given: AllocationCheck | None) -> monitor.AllocationCheck | None:
    """The check by arm; None where there is none."""
    if given is None:
        return None
    observed = dict(zip(given.arms, given.observed, strict=True))
    expected = dict(zip(given.arms, given.expected, strict=True))
    return monitor.AllocationCheck(observed, expected, given.log_e, given.rejected, given.sentence)


def surplus_view(given: Surplus) -> SurplusOverTime:
    """What was gained, now and over time."""
    ends = given.low.tolist(), given.high.tolist()
    return SurplusOverTime(quantity_view(given.total), _SURPLUS, given.t.tolist(), *ends)
