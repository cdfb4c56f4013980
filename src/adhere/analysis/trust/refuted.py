"""What an analysis must no longer promise where its data refute an assumption."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adhere.analysis.confidence_set import ConfidenceSet, Quantity, Shape, Validity
from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
from adhere.analysis.missing_outcomes.sensitivity import Sensitivity
from adhere.analysis.view import View

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis
    from adhere.analysis.bounding.bounds import Bound
    from adhere.analysis.fixed_sample.effects import Effects

EXCLUSION, MONOTONICITY = "exclusion", "monotonicity"


def refuted_assumptions(analysis: Analysis) -> dict[str, str]:
    """The assumptions that the data refute, each with the sentence that says so.

    Monotonicity is refuted where fewer of those assigned a treatment take it, by more than chance, or no population
    without defiers fits the cells, even allowing for chance.
    """
    if analysis.bounds.inequality.refuted:
        return {EXCLUSION: analysis.bounds.inequality.sentence}
    if analysis.strata.refuted:
        return {MONOTONICITY: analysis.strata.note}
    for one in analysis.bounds.bounds:
        if one.assumption == MONOTONICITY and one.limits is not None and one.limits.shape is Shape.EMPTY:
            return {MONOTONICITY: one.reason}
    return {}


def without_promises(analysis: Analysis) -> Analysis:
    """The analysis with everything that rests on a refuted assumption marked as refuted."""
    found = refuted_assumptions(analysis)
    if not found:
        return analysis
    why = next(iter(found.values()))
    sequences = tuple(
        replace(one, final=_marked(one.final)) if one.view is View.COMPLIERS else one for one in analysis.sequences
    )
    weighted = tuple(
        replace(one, difference=_kept(one.difference)) if one.view is View.COMPLIERS else one for one in analysis.aipw
    )
    extremes = tuple(
        replace(one, limits=_marked(one.limits)) if one.view is View.COMPLIERS else one
        for one in analysis.missing.extremes
    )
    sensitivity = analysis.missing.sensitivity
    alternatives = tuple(
        replace(one, difference=_kept(one.difference)) if one.view is View.COMPLIERS else one
        for one in sensitivity.alternatives
    )
    points = tuple(one for one in sensitivity.tipping_points if one.view is not View.COMPLIERS)
    groups = {name: replace(one, effects=_effects(one.effects, why)) for name, one in analysis.subgroups.items()}
    return replace(
        analysis,
        refuted=found,
        effects=_effects(analysis.effects, why),
        strata=_strata(analysis.strata, found),
        bounds=replace(analysis.bounds, bounds=tuple(_bound(one, found) for one in analysis.bounds.bounds)),
        missing=replace(
            analysis.missing, extremes=extremes, sensitivity=Sensitivity(alternatives, tipping_points=points)
        ),
        sequences=sequences,
        aipw=weighted,
        subgroups=groups,
    )


def _effects(given: Effects, why: str) -> Effects:
    """Differences stay, marked; ratios, numbers needed, p-values and means of compliers would mean nothing."""
    nothing = Quantity(None, reason=why)
    return replace(
        given,
        means=tuple(replace(one, mean=nothing) if one.view is View.COMPLIERS else one for one in given.means),
        comparisons=tuple(
            replace(
                one, difference=_kept(one.difference), ratio=nothing, number_needed=nothing, p_value=None, adjusted={}
            )
            if one.view is View.COMPLIERS
            else one
            for one in given.comparisons
        ),
    )


def _strata(given: PrincipalStrata, found: dict[str, str]) -> PrincipalStrata:
    """With defiers the shares are not those of the strata, and may add up to more than one."""
    if MONOTONICITY in found or given.reason:
        return PrincipalStrata(reason=given.reason or found[MONOTONICITY], refuted=given.refuted)
    nothing = Quantity(None, reason=found[EXCLUSION])
    return replace(
        given,
        shares={name: _kept(one) for name, one in given.shares.items()},
        means={
            name: _kept(one) if one.value is None or 0.0 <= one.value <= 1.0 else nothing
            for name, one in given.means.items()
        },
        note=found[EXCLUSION],
    )


def _bound(given: Bound, found: dict[str, str]) -> Bound:
    if EXCLUSION in found:
        return replace(given, limits=given.limits and _marked(given.limits))
    if given.assumption != MONOTONICITY:
        return given
    empty = given.limits and replace(_marked(given.limits), low=0.0, high=0.0, shape=Shape.EMPTY)
    return replace(given, low=None, high=None, limits=empty, reason=found[MONOTONICITY])


def _kept(given: Quantity) -> Quantity:
    return replace(given, sets=tuple(_marked(one) for one in given.sets))


def _marked(given: ConfidenceSet) -> ConfidenceSet:
    return replace(given, validity=Validity.REFUTED)
