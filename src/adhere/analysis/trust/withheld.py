"""Withhold views that are not valid for these records, and mark results that rest on refuted assumptions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from adhere.analysis.adaptive.aipw import AipwEstimate
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.bounding.bounds import Bound, InstrumentalInequality
from adhere.analysis.estimates import Comparison, Marked, Quantity, Shape, Validity, View, with_validity
from adhere.analysis.findings import Findings, Subgroup
from adhere.analysis.fixed_sample.effects import Effects
from adhere.analysis.fixed_sample.means import ArmMean
from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
from adhere.analysis.missing_outcomes.missing import Missing, missing_sentence
from adhere.analysis.missing_outcomes.sensitivity import Alternative, Sensitivity
from adhere.analysis.missing_outcomes.worst_case import ExtremeCase
from adhere.analysis.sentences import say
from adhere.analysis.trust.mediation import Mediation

Judged = TypeVar("Judged", bound=Findings)
Stratifiable = TypeVar("Stratifiable", Comparison, ExtremeCase, Alternative)
Viewed = TypeVar("Viewed", Comparison, ArmMean, ExtremeCase, Alternative, ConfidenceSequence, AipwEstimate)

MIXES_STRATA: Final = say("mixes_strata")
ADAPTS_BY_STRATUM: Final = say("adapts_by_stratum")
DRIFTED: Final = say("came_at_different_times")
WITHHELD: Final = {
    MIXES_STRATA: "withheld: mixes strata",
    ADAPTS_BY_STRATUM: "withheld: adapts by stratum",
    DRIFTED: "withheld: outcomes drifted",
}


def without_invalid(analysis: Judged) -> Judged:
    """Withhold views that are not valid because the allocation depends on the stratum or outcomes drifted.

    If the allocation was fixed within strata, stratified effects and effects within one stratum remain. Methods that
    use the logged probabilities (confidence sequences, AIPW, the allocation check) remain too. Under drift, views
    that assume late patients to be like early ones are withheld. Fixed-sample effects remain, marked as not valid.
    """
    if analysis.mixes_strata:
        effects = replace(
            analysis.effects,
            means=tuple(replace(one, mean=_nothing(one.mean, MIXES_STRATA)) for one in analysis.effects.means),
            comparisons=tuple(
                one if one.stratified and not analysis.adaptive else _replaced(one, _withheld(one))
                for one in analysis.effects.comparisons
            ),
        )
        subgroups = analysis.subgroups
        if analysis.adaptive:
            subgroups = {name: _within_stratum(one) for name, one in subgroups.items()}
        return _without_cells(replace(analysis, effects=effects, subgroups=subgroups), MIXES_STRATA)
    if analysis.balance is not None and analysis.balance.doubtful:
        analysis = _approximate(analysis)
    return _without_cells(analysis, DRIFTED) if analysis.outcomes_drifted else analysis


def _approximate(analysis: Judged) -> Judged:
    """Mark every set of a view that mixes strata as approximate."""

    def loose(given: Marked) -> Marked:
        return with_validity(given, Validity.APPROXIMATE)

    def pooled(each: tuple[Stratifiable, ...]) -> tuple[Stratifiable, ...]:
        return tuple(one if one.stratified else loose(one) for one in each)

    effects, missing, mediation = analysis.effects, analysis.missing, analysis.mediation
    alternatives = pooled(missing.sensitivity.alternatives)
    tested = tuple(replace(one, largest_difference=loose(one.largest_difference)) for one in mediation.arms)
    return replace(
        analysis,
        effects=replace(effects, means=loose(effects.means), comparisons=pooled(effects.comparisons)),
        strata=loose(analysis.strata),
        bounds=replace(analysis.bounds, bounds=loose(analysis.bounds.bounds)),
        missing=replace(
            missing,
            extremes=pooled(missing.extremes),
            sensitivity=replace(missing.sensitivity, alternatives=alternatives),
        ),
        mediation=replace(mediation, arms=tested),
    )


def _without_cells(analysis: Judged, reason: str) -> Judged:
    """Withhold results that compare patients of different arms regardless of stratum and time."""
    bounds, sentence = analysis.bounds, f"{reason[:1].upper()}{reason[1:]}."
    return replace(
        analysis,
        bounds=replace(
            bounds,
            bounds=tuple(replace(one, low=None, high=None, limits=None, reason=reason) for one in bounds.bounds),
            inequality=InstrumentalInequality(None, None, None, sentence),
            notes=(),
        ),
        strata=PrincipalStrata(reason=reason),
        mediation=Mediation(analysis.mediation.margin, analysis.mediation.level, (), sentence=sentence),
        missing=_missing(analysis.missing, analysis.n_patients, analysis.adaptive, reason),
    )


def _nothing(given: Quantity, reason: str) -> Quantity:
    return Quantity(None, n=given.n, reason=reason)


def _within_stratum(group: Subgroup) -> Subgroup:
    """Withhold the fixed-sample sets of a stratum to which the allocation adapted; its sequences remain valid."""
    effects = group.effects
    comparisons = tuple(_replaced(one, _nothing(one.difference, ADAPTS_BY_STRATUM)) for one in effects.comparisons)
    means = tuple(replace(one, mean=_nothing(one.mean, ADAPTS_BY_STRATUM)) for one in effects.means)
    return replace(group, effects=replace(effects, means=means, comparisons=comparisons))


def _withheld(one: Comparison | Alternative) -> Quantity:
    return _nothing(one.difference, ADAPTS_BY_STRATUM if one.stratified else MIXES_STRATA)


def _replaced(one: Comparison, nothing: Quantity) -> Comparison:
    return replace(one.without(nothing), note="")


def _missing(given: Missing, n_patients: int, adaptive: bool, reason: str) -> Missing:
    """Keep counts and, if the allocation was fixed within strata, stratified results; withhold the rest.

    Under drift only the worst cases are withheld, because they claim any-time validity; other results are marked as
    fixed-sample.
    """
    if reason == DRIFTED:
        kept = replace(given, extremes=())
    else:
        found = given.sensitivity
        alternatives = tuple(
            one if one.stratified and not adaptive else replace(one, difference=_withheld(one))
            for one in found.alternatives
        )
        points = tuple(one for one in found.tipping_points if one.stratified and not adaptive)
        extremes = tuple(one for one in given.extremes if one.stratified and not adaptive)
        kept = replace(given, extremes=extremes, sensitivity=Sensitivity(alternatives, points))
    return replace(kept, sentence=missing_sentence(n_patients, kept))


EXCLUSION, MONOTONICITY = "exclusion", "monotonicity"


def refuted_assumptions(analysis: Findings) -> dict[str, str]:
    """Return the assumptions that the data refute, each with a sentence about the refutation.

    Monotonicity is refuted if assignment to a treatment lowers the share who take it by more than chance. It is also
    refuted if no population without defiers fits the cells, even allowing for chance.
    """
    if analysis.bounds.inequality.refuted:
        return {EXCLUSION: analysis.bounds.inequality.sentence}
    if analysis.strata.refuted:
        return {MONOTONICITY: analysis.strata.note}
    for one in analysis.bounds.bounds:
        if one.assumption == MONOTONICITY and one.limits is not None and one.limits.shape is Shape.EMPTY:
            return {MONOTONICITY: one.reason}
    return {}


def without_promises(analysis: Judged) -> Judged:
    """Mark every result that rests on a refuted assumption as refuted."""
    found = refuted_assumptions(analysis)
    if not found:
        return analysis
    why = next(iter(found.values()))
    missing, sensitivity = analysis.missing, analysis.missing.sensitivity
    points = tuple(one for one in sensitivity.tipping_points if one.view is not View.COMPLIERS)
    groups = {name: replace(one, effects=_effects(one.effects, why)) for name, one in analysis.subgroups.items()}
    return replace(
        analysis,
        refuted=found,
        effects=_effects(analysis.effects, why),
        strata=_strata(analysis.strata, found),
        bounds=replace(analysis.bounds, bounds=tuple(_bound(one, found) for one in analysis.bounds.bounds)),
        missing=replace(
            missing,
            extremes=_of_compliers(missing.extremes, _marked),
            sensitivity=Sensitivity(_of_compliers(sensitivity.alternatives, _marked), points),
        ),
        sequences=_of_compliers(analysis.sequences, _marked),
        aipw=_of_compliers(analysis.aipw, _marked),
        subgroups=groups,
    )


def _of_compliers(each: tuple[Viewed, ...], change: Callable[[Viewed], Viewed]) -> tuple[Viewed, ...]:
    return tuple(change(one) if one.view is View.COMPLIERS else one for one in each)


def _effects(given: Effects, why: str) -> Effects:
    """Mark differences of compliers; remove their ratios, numbers needed to treat, p-values and means."""
    nothing = Quantity(None, reason=why)
    return replace(
        given,
        means=_of_compliers(given.means, lambda one: replace(one, mean=nothing)),
        comparisons=_of_compliers(
            given.comparisons, lambda one: replace(one.without(nothing), difference=_marked(one.difference))
        ),
    )


def _strata(given: PrincipalStrata, found: dict[str, str]) -> PrincipalStrata:
    """Remove the principal strata if there are defiers, which make the shares wrong; otherwise mark the strata."""
    if MONOTONICITY in found or given.reason:
        return PrincipalStrata(reason=given.reason or found[MONOTONICITY], refuted=given.refuted)
    nothing = Quantity(None, reason=found[EXCLUSION])
    return replace(
        given,
        shares=_marked(given.shares),
        means={
            name: _marked(one) if one.value is None or 0.0 <= one.value <= 1.0 else nothing
            for name, one in given.means.items()
        },
        note=found[EXCLUSION],
    )


def _bound(given: Bound, found: dict[str, str]) -> Bound:
    if EXCLUSION in found:
        return replace(given, limits=_marked(given.limits))
    if given.assumption != MONOTONICITY:
        return given
    empty = given.limits and replace(_marked(given.limits), low=0.0, high=0.0, shape=Shape.EMPTY)
    return replace(given, low=None, high=None, limits=empty, reason=found[MONOTONICITY])


def _marked(given: Marked) -> Marked:
    return with_validity(given, Validity.REFUTED)
