"""Withholding of every view that an allocation which depends on the stratum makes invalid, with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from adhere.analysis.bounding.extreme_cases import ExtremeCases
from adhere.analysis.bounding.instrumental_inequality import InstrumentalInequality
from adhere.analysis.bounding.missing_words import missing_sentence
from adhere.analysis.confidence_set import Quantity
from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
from adhere.analysis.missing_outcomes.sensitivity import Sensitivity

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis
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


def without_mixed_strata(analysis: Analysis) -> Analysis:
    """The analysis, where its allocation depends on the stratum, without any view that is not valid then.

    Effects that are stratified stay if the allocation was fixed within strata. What uses the logged probabilities
    (confidence sequences, AIPW, the allocation check) stays, and so does what is within one stratum.
    """
    if not analysis.mixes_strata:
        return analysis
    effects, bounds = analysis.effects, analysis.bounds
    sentence = f"{MIXES_STRATA[:1].upper()}{MIXES_STRATA[1:]}."
    return replace(
        analysis,
        effects=replace(
            effects,
            means=tuple(replace(one, mean=_nothing(one.mean)) for one in effects.means),
            comparisons=tuple(_compared(one, analysis.adaptive) for one in effects.comparisons),
        ),
        bounds=replace(
            bounds,
            bounds=tuple(
                replace(one, low=None, high=None, limits=None, reason=MIXES_STRATA) for one in bounds.bounds
            ),
            inequality=InstrumentalInequality(None, None, None, sentence),
            notes=(),
        ),
        strata=PrincipalStrata(reason=MIXES_STRATA),
        mediation=_mediation(analysis.mediation, sentence),
        missing=_missing(analysis.missing, analysis.n_patients, analysis.adaptive),
    )


def _nothing(given: Quantity, reason: str = MIXES_STRATA) -> Quantity:
    return Quantity(None, n=given.n, reason=reason)


def _withheld(one: Comparison | Alternative) -> Quantity:
    return _nothing(one.difference, ADAPTS_BY_STRATUM if one.stratified else MIXES_STRATA)


def _compared(one: Comparison, adaptive: bool) -> Comparison:
    if one.stratified and not adaptive:
        return one
    nothing = _withheld(one)
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


def _missing(given: Missing, n_patients: int, adaptive: bool) -> Missing:
    """Counts, and what is stratified if the allocation was fixed within strata; the rest is withheld."""
    counts = given.outcomes, given.taken, given.imputed_outcomes, given.imputed_taken
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
