"""Verdict on which view can be trusted for these records, and why."""

from collections.abc import Iterator

from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.estimates import Comparison, ConfidenceSet, Validity, View
from adhere.analysis.findings import Findings
from adhere.analysis.fixed_sample.stratum_balance import kept_views
from adhere.analysis.formatting import first_few, p_value, quantity, signed, unique
from adhere.analysis.sentences import say
from adhere.analysis.trust.estimands import any_time_in_words
from adhere.analysis.trust.mediation import and_list
from adhere.analysis.trust.verdict_caveats import (
    heterogeneity_sentences,
    if_fixed,
    on_missing_outcomes,
    on_what_was_taken,
)
from adhere.analysis.trust.withheld import MONOTONICITY, WITHHELD

_NAMED = 3  # number of treatments with effects written out
_SAME = 1e-9  # effects closer than this are equal up to rounding


def verdict(analysis: Findings) -> tuple[str, ...]:
    """Return sentences on each view: what it answers, whether to trust it here, and what could mislead."""
    return tuple(unique(list(_verdict(analysis))))


def _verdict(analysis: Findings) -> Iterator[str]:
    if not any(mean.mean.n for mean in analysis.effects.means):
        yield "No outcome is known yet, so no view says anything."
        return
    yield from _intention_to_treat(analysis)
    if analysis.mixes_strata:
        yield _what_is_left(analysis)
    elif analysis.balance is not None and analysis.balance.doubtful:
        yield say("doubtful_balance", p=p_value(analysis.balance.p_value))
    if analysis.lower_is_better:
        yield say("lower_is_better")
    yield from heterogeneity_sentences(analysis)
    total = analysis.flow.total
    if not total.compliance.n:
        yield "It is not known what anybody took, so intention-to-treat is the only view there is."
    elif total.took_it == total.compliance.n:
        unknown = total.not_reported + total.lost
        known = " of whom it is known" * bool(unknown)
        agree = ": all views agree, and" if not unknown and _agree(analysis) else ", so"
        stratified = "stratified " * (analysis.mixes_strata and not analysis.adaptive)
        yield say("everybody_complied", known=known, agree=agree, stratified=stratified)
    else:
        yield from _compliers(analysis)
        if not analysis.mixes_strata:
            yield from on_what_was_taken(analysis)
            yield from _everybody(analysis)


def _what_is_left(analysis: Findings) -> str:
    """Return a sentence with the views that are valid although the allocation depends on the stratum."""
    kept = kept_views(adaptive=analysis.adaptive, weighted=bool(analysis.sequences))
    if not kept:
        return "No view of all patients can be read: the allocation adapts and depends on the stratum."
    n = 0 if analysis.balance is None or analysis.adaptive else analysis.balance.n_lacking
    return say("read_only", kept=kept, but=say("but_for_lacking", n=n, total=analysis.n_patients) if n else "")


def _agree(analysis: Findings) -> bool:
    """Return whether all views of each pair of arms are available, comparable and equal."""
    values: dict[tuple[str, str], list[float | None]] = {}
    for one in analysis.effects.comparisons:
        values.setdefault(one.pair, []).append(one.difference.value)
    return not analysis.adaptive and all(
        all(value is not None and abs(value - (first or 0.0)) < _SAME for value in (first, *others))
        for first, *others in values.values()
    )


def _intention_to_treat(analysis: Findings) -> Iterator[str]:
    said = _effects(analysis, View.INTENTION_TO_TREAT)
    yield say("intention_to_treat_first", said=said)
    compared = _to_read(analysis, View.INTENTION_TO_TREAT)
    unknown = [one for one in compared.values() if one.difference.reason not in WITHHELD]
    if unknown and not said:
        yield f"By this view there is no estimate here: {_reasons(unknown)}."
    if analysis.allocation is not None and analysis.allocation.rejected:
        yield say("not_drawn_as_logged")
    elif analysis.fixed_allocation or not (analysis.has_probabilities or analysis.adaptive):
        yield if_fixed(compared, declared=analysis.fixed_allocation)
    elif analysis.adaptive and not analysis.sequences:
        yield f"No interval for it holds under this adaptive allocation. {analysis.why_no_sequences}"
    elif any(one.drift_at is not None for one in analysis.sequences):
        yield say("drift_without_sequence")
    tested = [one for one in analysis.randomisation if one.p_value is not None]
    if tested:
        each = [f"{one.treatment} against {one.control} p {p_value(one.p_value)}" for one in tested[:_NAMED]]
        yield say("randomisation", listed="; ".join(each))
    yield from on_missing_outcomes(analysis, compared, _to_read(analysis, View.COMPLIERS))


def _compliers(analysis: Findings) -> Iterator[str]:
    who = "compliers (those who take the treatment if and only if assigned to it)"
    found = list(_to_read(analysis, View.COMPLIERS).values())
    known = [one for one in found if _value(analysis, one) is not None or _has_useless_sequence(analysis, one)]
    if analysis.bounds.inequality.refuted:
        yield say("exclusion_refuted", who=who)
        return
    if MONOTONICITY in analysis.refuted:
        yield say("monotonicity_refuted", who=who)
        return
    if not known:
        yield f"There is no effect among {who} to read: {_reasons(found)}." if found else ""
        return
    unknown = [one for one in found if one not in known]
    if unknown:
        names = and_list([one.treatment for one in unknown])
        yield f"For {names} against {analysis.control} there is no effect among {who} to read: {_reasons(unknown)}."
    sets = [_set(analysis, one) for one in known]
    readable = [one for one, found in zip(known, sets, strict=True) if found is None or not found.says_nothing]
    useless: dict[str, list[str]] = {}
    for one in known:
        if one not in readable:
            useless.setdefault(_why_useless(analysis, one), []).append(one.treatment)
    for why, treatments in useless.items():
        names = and_list(treatments)
        yield say("compliers_not_known", treatments=names, control=analysis.control, who=who, why=why)
    if readable:
        said = _effects(analysis, View.COMPLIERS, [one.treatment for one in readable])
        is_missing = any((*analysis.missing.outcomes.values(), *analysis.missing.taken.values()))
        is_worst = analysis.adaptive and bool(analysis.sequences)  # sequences use the worst case of missing reports
        like = ", and reports are missing at random" if is_missing and not is_worst else ""
        yield say("compliers_can_be_read", who=who, like=like, said=said)
        n_neither = analysis.flow.total.took_nothing + analysis.flow.total.took_other
        if n_neither:
            yield say("took_neither", n=n_neither, control=analysis.control)


def _has_useless_sequence(analysis: Findings, one: Comparison) -> bool:
    """Return whether the effect is withheld while its confidence sequence contains every possible effect."""
    sequence = _sequence(analysis, one)
    return one.difference.reason in WITHHELD and sequence is not None and sequence.final.says_nothing


def _why_useless(analysis: Findings, one: Comparison) -> str:
    """Return why the set of an effect on compliers is uninformative; near-zero compliance makes it unbounded."""
    found = _set(analysis, one)
    if found is not None and not found.is_bounded:
        return "assignment changed what too few people took, and the confidence set is unbounded"
    if _sequence(analysis, one) is None:
        return "the confidence set contains every possible effect"
    within = ": it is made within strata, which share its error" * analysis.mixes_strata
    return f"the any-time valid set contains every possible effect{within}"


def _reasons(found: list[Comparison]) -> str:
    """Return why effects of up to three treatments have no estimate; common parts of reasons are stated once."""
    why: dict[str, list[str]] = {}
    for one in found:
        first, _, common = one.difference.reason.partition(": ")
        why.setdefault(common, []).append(first)
    return "; ".join(first_few(unique(each)) + (f": {common}" if common else "") for common, each in why.items())


def _value(analysis: Findings, one: Comparison) -> float | None:
    """Return the effect, or the estimate of its confidence sequence if the effect is withheld."""
    sequence = _sequence(analysis, one)
    is_withheld = one.difference.reason in WITHHELD
    return sequence.estimate if is_withheld and sequence is not None else one.difference.value


def _set(analysis: Findings, one: Comparison) -> ConfidenceSet | None:
    """Return the set that is valid for the allocation: the last of the sequence if the allocation was adaptive."""
    sequence = _sequence(analysis, one)
    if sequence is not None:
        return sequence.final
    return one.difference.sets[0] if one.difference.sets else None


def _sequence(analysis: Findings, one: Comparison) -> ConfidenceSequence | None:
    """Return the confidence sequence of a comparison if the allocation was adaptive, otherwise None."""
    sequences = analysis.sequences if analysis.adaptive else ()
    return next((sequence for sequence in sequences if sequence.is_like(one)), None)


def _everybody(analysis: Findings) -> Iterator[str]:
    said = []
    for bound in analysis.bounds.bounds if not analysis.bounds.inequality.refuted else ():
        is_effect = bound.quantity == "effect" and bound.control == analysis.control and bound.assumption == "none"
        if is_effect and bound.low is not None and bound.high is not None:
            limits = ""
            if bound.limits is not None:
                doubt = ", approximate" * (bound.limits.validity is Validity.APPROXIMATE)
                limits = f" (with sampling error {bound.limits}{doubt})"
            ends = f"from {signed(bound.low)} to {signed(bound.high)}"
            said.append(f"{bound.treatment} against {bound.control} {ends}{limits}")
    if said:
        yield say("bounds_for_everybody", said=first_few(said))


def _effects(analysis: Findings, view: View, treatments: list[str] | None = None) -> str:
    """Return the effects against control by one view, stratified if there are strata, with valid sets."""
    said = any_time_in_words(analysis, view)
    for name, one in _to_read(analysis, view).items():
        if one.difference.value is not None:
            which = analysis.view_name(one).removeprefix(view.value)  # ", stratified", if it matters
            said.setdefault(name, quantity(one.difference, sign=True) + which)
    wanted = [name for name in said if not treatments or name in treatments]
    kept = [f"{name} against {analysis.control} {said[name]}" for name in wanted]
    return f" Here: {first_few(kept)}." if kept else ""


def _to_read(analysis: Findings, view: View) -> dict[str, Comparison]:
    """Return the comparison of each treatment with control: the stratified one, if it has an estimate."""
    found: dict[str, Comparison] = {}
    for one in analysis.effects.comparisons:
        if one.view is view and one.control == analysis.control and (one.stratified or not analysis.mixes_strata):
            first = found.setdefault(one.treatment, one)
            if first.difference.value is None and one.difference.value is not None:
                found[one.treatment] = one
    return found
