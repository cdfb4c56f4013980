"""Complier average effect: the effect on patients who take the treatment if and only if assigned to it."""

import math
from dataclasses import replace

import numpy as np

from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Validity, View, with_validity
from adhere.analysis.fixed_sample.assigned_moments import (
    OUTCOME,
    TAKEN,
    TREATED,
    UNTREATED,
    Assigned,
    Contrasts,
    StratifiedAssigned,
    TwoAssigned,
    stratified_pair,
)
from adhere.analysis.fixed_sample.intervals import two_sided
from adhere.analysis.fixed_sample.missing_at_random import Completed
from adhere.analysis.fixed_sample.two_arms import (
    NO_STRATUM,
    Contrast,
    PairOfArms,
    alone_note,
    compare_groups,
    compare_strata,
    not_negative,
    number_needed,
)
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER
from adhere.analysis.sentences import say
from adhere.intervals import normal_quantile

ANDERSON_RUBIN = "Fieller, Anderson–Rubin"
DELTA = "delta method (fails with weak instruments)"


def complier_comparison(arms: PairOfArms) -> Comparison:
    """Compute Wald's estimate (Y₁ − Y₀)/(D₁ − D₀) for one pair of arms, with two confidence sets.

    D is 1 for patients who took the treatment. The sets are the robust Anderson–Rubin set and the interval of the
    delta method. With more than two arms there is an estimate only if nobody assigned either arm took a third arm.
    For a stratified pair, both differences are weighted means of the differences within strata. Mantel and Haenszel's
    weights give two-stage least squares with a constant for each stratum; with `by_patients`, strata are weighted by
    their patients.

    References
    ----------
    Imbens and Angrist (1994), Econometrica 62; Abadie (2002), Journal of the American Statistical Association 97;
    Kirkeboen, Leuven and Mogstad (2016), Quarterly Journal of Economics 131.

    """
    filled, names, treatment = arms.filled, arms.names, arms.names[0]
    cells, both = filled.known, list(arms.arms)
    pair = _contrasts(arms, filled)
    reported = pair if filled.reported is filled else _contrasts(arms, filled.reported)
    note = say("complier_assumptions")
    if any(cells.cell(arm, taken).n for arm in both for taken in (TOOK_NOTHING, TOOK_OTHER)):
        note += say("not_taking", treatment=treatment)
    if n_unknown := int(filled.cells.assigned[:, both, NOT_KNOWN].sum()):
        total = int(cells.assigned[:, both].sum())
        note += say("taken_not_reported", n=n_unknown, total=total, treatment=treatment)
    alone = alone_note(pair.n_alone if isinstance(pair, StratifiedAssigned) else 0)
    if reason := _obstacle(arms, reported):
        difference, p_value = Quantity(None, n=pair.n, reason=reason), None
        ratio = needed = difference
        note += alone
    else:
        difference, p_value = _effect(pair, arms.level)
        if difference.value is None:
            difference = Quantity(None, difference.sets, pair.n, first_stage_reason(pair, *names))
            ratio = Quantity(None, (), pair.n, difference.reason)
        else:
            ratio = _ratio(reported, arms.level)
        if filled.n_borrowed(*both):
            difference, ratio = (with_validity(one, Validity.APPROXIMATE) for one in (difference, ratio))
        needed = number_needed(difference)
        note += filled.note(*both) + alone
    return Comparison(
        View.COMPLIERS,
        *names,
        difference,
        ratio,
        needed,
        p_value,
        stratified=arms.stratified,
        note=note,
        at_random=filled.is_missing(*both),
    )


def assignment_interval(arms: PairOfArms) -> tuple[float, float] | None:
    """Return an interval of the difference by assignment that contains 0 if and only if the Anderson–Rubin set does.

    Return None if compliers have no such set, or if everybody complied.
    """
    pair = _contrasts(arms, arms.filled)
    if _obstacle(arms, _contrasts(arms, arms.filled.reported)) or complied_fully(pair):
        return None
    if pair.contrast(TAKEN) <= 0.0 or not pair.has_variances:
        return None
    contrast, half = pair.contrast(OUTCOME), normal_quantile(arms.level) * math.sqrt(pair.variance(OUTCOME))
    return contrast - half, contrast + half


def _contrasts(arms: PairOfArms, filled: Completed) -> Contrasts:
    if arms.stratified:
        return stratified_pair(filled, *arms.arms, by_patients=arms.by_patients)
    return assigned_pair(filled, *arms.arms)


def assigned_pair(filled: Completed, treatment: int, control: int) -> TwoAssigned:
    """Return the patients assigned the treatment and the patients assigned the control."""
    return TwoAssigned(*(_assigned(filled, arm, treatment) for arm in (treatment, control)))


def _assigned(filled: Completed, arm: int, treatment: int) -> Assigned:
    kinds, known = (
        (cells.cell(arm, treatment), cells.others(arm, treatment), cells.cell(arm, NOT_KNOWN))
        for cells in (filled.cells, filled.known)
    )
    if filled.known.is_complete:
        return Assigned(*kinds)
    outcomes, taking = filled.shares(arm), np.zeros_like(filled.shares(arm))
    n = filled.cells.n[:, arm, treatment]
    taking[:, treatment] = n / max(1, kinds[0].n + kinds[1].n)
    pairs = (outcomes, outcomes), (outcomes, taking), (taking, taking)
    of_y, of_both, of_yd = (filled.lost(arm, *pair) for pair in pairs)
    return Assigned(*kinds, known, (of_y, of_both, of_yd), filled.information(arm))


def complied_fully(pair: Contrasts) -> bool:
    """Return whether everybody took the treatment if and only if assigned to it."""
    return pair.n_takers == (pair.n_reported[0], 0)


def first_stage_reason(pair: Contrasts, treatment: str, control: str) -> str:
    """Return a sentence for the case that assignment did not raise the share of patients who took the treatment."""
    shares = [f"{100 * share:.1f}%" for share in pair.means(TAKEN)]
    took = f"{shares[0]} of those assigned {treatment} took it, and {shares[1]} of those assigned {control} did"
    weighted = " (weighted by stratum)" if isinstance(pair, StratifiedAssigned) else ""
    return f"{took}{weighted}: assignment did not make more people take it, so that no compliers are seen"


def _obstacle(arms: PairOfArms, pair: Contrasts) -> str:
    """Return why there is no estimate, or an empty string; `pair` has the patients who reported what they took."""
    cells, (treatment, control), names = arms.filled.known, arms.arms, arms.names
    if isinstance(pair, StratifiedAssigned) and not pair.n:
        return NO_STRATUM
    n_known = pair.n_assigned
    if isinstance(pair, TwoAssigned):
        n_known = pair.treatment.n_known, pair.control.n_known
    for name, n in zip(names, n_known, strict=True):
        if not n:
            return say("nobody_known", arm=name)
    third = [arm for arm in range(len(cells.arms)) if arm not in (treatment, control)]
    if cells.patients[[[treatment], [control]], third].any():
        return say("mixture_of_effects", treatment=names[0], control=names[1])
    if not any(pair.n_takers):
        return f"nobody assigned either arm took {names[0]}: there are no compliers"
    if isinstance(pair, TwoAssigned) and not (pair.treatment.has_outcomes and pair.control.has_outcomes):
        return say("no_outcomes")
    return arms.filled.why_no_mean(*arms.arms)


def _everyone(pair: Contrasts, level: float) -> Contrast:
    """Compare the arms by intention-to-treat."""
    if isinstance(pair, StratifiedAssigned):
        patients = None if pair.patients is None else pair.patients.tolist()
        return compare_strata(pair.outcomes, level, lost=pair.lost_variances, patients=patients)
    assert isinstance(pair, TwoAssigned)
    information = pair.treatment.information, pair.control.information
    return compare_groups(pair.treatment.everyone, pair.control.everyone, level, information=information)


def _effect(pair: Contrasts, level: float) -> tuple[Quantity, float | None]:
    taken = pair.contrast(TAKEN)
    if complied_fully(pair):  # then everybody is a complier
        everyone = _everyone(pair, level)
        delta = _delta(pair, everyone.difference.value or 0.0, level)
        sets = (*everyone.difference.sets, delta) if everyone.difference.sets else ()
        return replace(everyone.difference, sets=sets), everyone.p_value
    if taken <= 0.0:
        found = pair.fieller(OUTCOME, TAKEN, level, ANDERSON_RUBIN) if pair.has_variances else None
        # With a negative share of compliers, a bounded set would be a set for the effect on defiers.
        return Quantity(None, (found,) if found and not found.is_bounded else (), pair.n), None
    value = pair.contrast(OUTCOME) / taken
    if not pair.has_variances:
        return Quantity(value, n=pair.n, reason=_single(pair)), None
    smoothed = not pair.varies((1.0, -value, 0.0))  # no variation does not mean certainty
    variance = pair.variance(OUTCOME, smoothed=smoothed)
    p_value = two_sided(pair.contrast(OUTCOME) / math.sqrt(variance)) if variance else None
    found = pair.fieller(OUTCOME, TAKEN, level, ANDERSON_RUBIN, smoothed=smoothed)
    return Quantity(value, (found, _delta(pair, value, level)), pair.n), p_value


def _delta(pair: Contrasts, value: float, level: float) -> ConfidenceSet:
    """Return the interval of two-stage least squares, with robust variance (no small-sample correction)."""
    error = math.sqrt(pair.residual_variance((1.0, -value, 0.0))) / pair.contrast(TAKEN)
    half = normal_quantile(level) * error
    return ConfidenceSet(value - half, value + half, DELTA, Validity.APPROXIMATE, level=level)


def _ratio(pair: Contrasts, level: float) -> Quantity:
    """Return the ratio of the compliers' means, treated to untreated.

    Its variances are smoothed, because with rare outcomes a few empty cells would make its interval too narrow.
    """
    if complied_fully(pair):
        return _everyone(pair, level).ratio
    treated, untreated = pair.contrast(TREATED), pair.contrast(UNTREATED)
    found = not_negative(pair.fieller(TREATED, UNTREATED, level, smoothed=True)) if pair.has_variances else None
    if untreated <= 0.0 or treated < 0.0:
        which = "without treatment is not above" if untreated <= 0.0 else "with treatment is below"
        sets = (found,) if found and not found.is_bounded else ()
        return Quantity(None, sets, pair.n, f"the estimated mean of compliers {which} 0")
    ratio = treated / untreated
    if found is None:
        return Quantity(ratio, n=pair.n, reason=_single(pair))
    if not ratio:
        return Quantity(ratio, (found,), pair.n)
    residual = (-ratio * UNTREATED[0], 0.0, TREATED[2] - ratio * UNTREATED[2])
    relative = math.sqrt(pair.residual_variance(residual)) / treated
    factor = math.exp(min(700.0, normal_quantile(level) * relative))
    delta = ConfidenceSet(ratio / factor, ratio * factor, DELTA, Validity.APPROXIMATE, level=level)
    return Quantity(ratio, (found, delta), pair.n)


def _single(pair: Contrasts) -> str:
    return say("single_patients" if isinstance(pair, StratifiedAssigned) else "single_patient")
