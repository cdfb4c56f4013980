"""Withholding of views that the allocation makes invalid, as it depends on the stratum or as outcomes drifted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from adhere.analysis.bounding.extreme_cases import ExtremeCases
from adhere.analysis.bounding.instrumental_inequality import InstrumentalInequality
from adhere.analysis.bounding.missing_words import missing_sentence
from adhere.analysis.confidence_set import Quantity, Validity
from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
from adhere.analysis.missing_outcomes.sensitivity import Sensitivity

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis, Subgroup
    from adhere.analysis.bounding.missing import Missing
    from adhere.analysis.fixed_sample.comparison import Comparison
    from adhere.analysis.missing_outcomes.sensitivity import Alternative
    from adhere.analysis.trust.mediation import Mediation

MIXES_STRATA: Final = (
    "withheld, as it mixes strata: the allocation depends on the stratum, so that those assigned different arms come "
    "from different strata"
)
ADAPTS_BY_STRATUM: Final = (
    "withheld, as the allocation adapts by stratum: a fixed-sample set holds within no stratum, and how much each "
    "counts depends on outcomes"
)
DRIFTED: Final = (
    "withheld, as outcomes drifted over time while the allocation changed: those assigned different arms came at "
    "different times"
)


def without_invalid(analysis: Analysis) -> Analysis:
    """The analysis without any view that is not valid, as the allocation depends on the stratum or outcomes drifted.

    Effects that are stratified, or within one stratum, stay if the allocation was fixed within strata. What uses the
    logged probabilities (confidence sequences, AIPW, the allocation check) stays. Under drift, views that
    assume late patients to be like early ones are withheld; fixed-sample effects stay, marked as not holding.
    """
    if analysis.mixes_strata:
        effects = replace(
            analysis.effects,
            means=tuple(replace(one, mean=_nothing(one.mean)) for one in analysis.effects.means),
            comparisons=tuple(_compared(one, analysis.adaptive) for one in analysis.effects.comparisons),
        )
        subgroups = analysis.subgroups
        if analysis.adaptive:
            subgroups = {name: _within_stratum(one) for name, one in subgroups.items()}
        return _without_cells(replace(analysis, effects=effects, subgroups=subgroups), MIXES_STRATA)
    if analysis.balance is not None and analysis.balance.doubtful:
        analysis = _approximate(analysis)
    return _without_cells(analysis, DRIFTED) if analysis.outcomes_drifted else analysis


def _approximate(analysis: Analysis) -> Analysis:
    """Mark every set of a view that mixes strata as approximate."""
    given, strata = analysis.effects, analysis.strata
    effects = replace(
        given,
        means=tuple(replace(one, mean=_less_sure(one.mean)) for one in given.means),
        comparisons=tuple(
            one
            if one.stratified
            else replace(
                one,
                difference=_less_sure(one.difference),
                ratio=_less_sure(one.ratio),
                number_needed=_less_sure(one.number_needed),
            )
            for one in given.comparisons
        ),
    )
    return replace(
        analysis,
        effects=effects,
        strata=replace(
            strata,
            shares={name: _less_sure(one) for name, one in strata.shares.items()},
            means={name: _less_sure(one) for name, one in strata.means.items()},
        ),
        bounds=replace(
            analysis.bounds,
            bounds=tuple(
                replace(one, limits=one.limits and replace(one.limits, validity=Validity.APPROXIMATE))
                for one in analysis.bounds.bounds
            ),
        ),
        missing=replace(
            analysis.missing,
            extremes=tuple(
                one if one.stratified else replace(one, limits=replace(one.limits, validity=Validity.APPROXIMATE))
                for one in analysis.missing.extremes
            ),
            sensitivity=replace(
                analysis.missing.sensitivity,
                alternatives=tuple(
                    one if one.stratified else replace(one, difference=_less_sure(one.difference))
                    for one in analysis.missing.sensitivity.alternatives
                ),
            ),
        ),
        mediation=replace(
            analysis.mediation,
            arms=tuple(
                replace(one, largest_difference=_less_sure(one.largest_difference)) for one in analysis.mediation.arms
            ),
        ),
    )


def _less_sure(given: Quantity) -> Quantity:
    return replace(given, sets=tuple(replace(one, validity=Validity.APPROXIMATE) for one in given.sets))


def _without_cells(analysis: Analysis, reason: str) -> Analysis:
    """Withhold what compares patients assigned different arms regardless of stratum and time."""
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
        mediation=_mediation(analysis.mediation, sentence),
        missing=_missing(analysis.missing, analysis.n_patients, analysis.adaptive, reason),
    )


def _nothing(given: Quantity, reason: str = MIXES_STRATA) -> Quantity:
    return Quantity(None, n=given.n, reason=reason)


def _within_stratum(group: Subgroup) -> Subgroup:
    """Withhold the fixed-sample sets of a stratum to which the allocation adapted; its sequences hold."""
    effects = group.effects
    comparisons = []
    for one in effects.comparisons:
        nothing = _nothing(one.difference, ADAPTS_BY_STRATUM)
        comparisons.append(_replaced(one, nothing))
    means = tuple(replace(one, mean=_nothing(one.mean, ADAPTS_BY_STRATUM)) for one in effects.means)
    return replace(group, effects=replace(effects, means=means, comparisons=tuple(comparisons)))


def _withheld(one: Comparison | Alternative) -> Quantity:
    return _nothing(one.difference, ADAPTS_BY_STRATUM if one.stratified else MIXES_STRATA)


def _compared(one: Comparison, adaptive: bool) -> Comparison:
    if one.stratified and not adaptive:
        return one
    return _replaced(one, _withheld(one))


def _replaced(one: Comparison, nothing: Quantity) -> Comparison:
    return replace(one, difference=nothing, ratio=nothing, number_needed=nothing, p_value=None, adjusted={}, note="")


def _mediation(given: Mediation, sentence: str) -> Mediation:
    return replace(
        given,
        arms=(),
        log_bayes_factor=None,
        log_e=None,
        refuted=None,
        p_value=None,
        differs=None,
        equivalent=None,
        sentence=sentence,
        bayes_factor="",
    )


def _missing(given: Missing, n_patients: int, adaptive: bool, reason: str) -> Missing:
    """Keep counts and, if the allocation was fixed within strata, what is stratified; withhold the rest.

    Under drift only the worst cases are withheld, which claim any-time validity; the others are marked fixed-sample.
    """
    counts = given.outcomes, given.taken, given.imputed_outcomes, given.imputed_taken
    if reason == DRIFTED:
        return replace(given, extremes=(), sentence=missing_sentence(n_patients, *counts, ExtremeCases()))
    extremes = tuple(one for one in given.extremes if one.stratified and not adaptive)
    found = given.sensitivity
    alternatives = tuple(
        one if one.stratified and not adaptive else replace(one, difference=_withheld(one))
        for one in found.alternatives
    )
    points = tuple(one for one in found.tipping_points if one.stratified and not adaptive)
    return replace(
        given,
        extremes=extremes,
        sentence=missing_sentence(n_patients, *counts, ExtremeCases(extremes)),
        sensitivity=Sensitivity(alternatives, points),
    )
