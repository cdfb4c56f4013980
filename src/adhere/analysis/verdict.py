"""Which view can be trusted here, and why: the paragraph that a trialist needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adhere.analysis.mediation_words import and_list
from adhere.analysis.texts import estimate, p_value, quantity, signed, unique
from adhere.analysis.view import View

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis
    from adhere.analysis.comparison import Comparison
    from adhere.analysis.confidence_set import ConfidenceSet

_NAMED = 3  # treatments whose effects are written out
_WEAK = 0.1  # of the share that takes an arm: a smaller difference between arms assigned can show little


def verdict(analysis: Analysis) -> tuple[str, ...]:
    """Sentences on each view: what it answers, whether it can be read here, and what would make it mislead."""
    return tuple(unique(list(_verdict(analysis))))


def _verdict(analysis: Analysis) -> Iterator[str]:
    if not any(mean.mean.n for mean in analysis.effects.means):
        yield "No outcome is known yet, so no view says anything."
        return
    yield from _intention_to_treat(analysis)
    if analysis.lower_is_better:
        yield (
            "Lower outcomes were declared better: every outcome y is read as 1 − y here, in means and effects alike, "
            "so that an effect above 0 is good."
        )
    total = analysis.flow.total
    if not total.compliance.n:
        yield "It is not known what anybody took, so intention-to-treat is the only view there is."
    elif total.took_it == total.compliance.n:
        unknown = total.not_reported + total.lost
        of_whom = " of whom it is known" if unknown else ""
        yield (
            f"Everybody{of_whom} took the arm they were assigned: all views agree, and the effect of being assigned "
            "an arm is the effect of taking it."
        )
    else:
        yield from _compliers(analysis)
        yield from _taken(analysis)
        yield from _everybody(analysis)


def _intention_to_treat(analysis: Analysis) -> Iterator[str]:
    said = _effects(analysis, View.INTENTION_TO_TREAT)
    yield (
        "Intention-to-treat is the view to trust first: it compares patients as they were assigned, and so says what "
        f"assigning an arm does, whatever people then take (the treatment policy estimand).{said}"
    )
    if analysis.allocation is not None and analysis.allocation.rejected:
        yield "But arms were not drawn as logged, so even this view can be biased: find out why before using any."
    elif analysis.fixed_allocation:
        yield (
            "It was declared that the probabilities of arms were fixed in advance and that this is the only look; if "
            "so, its interval holds."
        )
    elif not analysis.has_probabilities:
        yield "Its interval holds if the probabilities of arms were fixed in advance and this is the only look."
    elif analysis.adaptive and not analysis.sequences:
        yield f"No interval for it holds under this adaptive allocation. {analysis.why_no_sequences}"
    elif any(one.drift_at is not None for one in analysis.sequences):
        yield "The effect changed over time (drift), so no single number describes it."
    yield from _randomisation(analysis)
    if not any(analysis.missing.outcomes.values()):
        return
    if analysis.adaptive and analysis.sequences:
        yield "Missing and pending outcomes enter the any-time valid set at their worst case: they cannot mislead it."
    else:
        yield (
            "It leaves out patients whose outcome is missing, which is right only if they would have fared like the "
            "others of their arm; the extreme cases under missing values need no such assumption."
        )


def _randomisation(analysis: Analysis) -> Iterator[str]:
    tested = [one for one in analysis.randomisation if one.p_value is not None]
    if tested:
        listed = "; ".join(
            f"{one.treatment} against {one.control} p {p_value(one.p_value)}" for one in tested[:_NAMED]
        )
        yield (
            "The randomisation test asks whether the arms drawn made any difference to anybody, and is exact if this "
            f"is the one look that was planned: {listed}."
        )


def _compliers(analysis: Analysis) -> Iterator[str]:
    who = "compliers (those who take the treatment just when assigned to it)"
    found = [
        one
        for one in analysis.effects.comparisons
        if one.view is View.COMPLIERS and one.control == analysis.control and not one.stratified
    ]
    known = [one for one in found if one.difference.value is not None]
    if analysis.bounds.inequality.refuted:
        yield (
            f"Do not read the effect among {who}, nor the bounds: the data refute that assignment acts only through "
            "what is taken, on which both rest."
        )
        return
    if not known:
        reasons = unique([one.difference.reason for one in found])
        yield f"There is no effect among {who} to read: {reasons[0]}." if reasons else ""
        return
    useless = [one.treatment for one in known if _says_nothing(_set(analysis, one))]
    readable = [one for one in known if one.treatment not in useless]
    if useless:
        yield (
            f"For {and_list(useless)} against {analysis.control} the effect among {who} is not known at all: "
            "assignment changed what too few people took, and the confidence set is unbounded or contains every "
            "possible effect. Do not read the point estimate."
        )
    if readable:
        said = _effects(analysis, View.COMPLIERS, [one.treatment for one in readable])
        yield (
            f"The effect among {who} can be read if assignment acts only through what is taken and nobody does the "
            f"opposite of what they are assigned; the data cannot prove either.{said}"
        )
        n_neither = analysis.flow.total.took_nothing + analysis.flow.total.took_other
        if n_neither:
            yield (
                f"But {n_neither:,} took none of the arms, and this effect counts them as if they had taken "
                f"{analysis.control}: read it only if taking nothing, or something else, does what "
                f"{analysis.control} does."
            )


def _set(analysis: Analysis, one: Comparison) -> ConfidenceSet | None:
    """The set that holds for the allocation: of an adaptive one, the confidence sequence's."""
    for sequence in analysis.sequences if analysis.adaptive else ():
        if (sequence.view, sequence.treatment, sequence.control) == (one.view, one.treatment, one.control):
            return sequence.final
    return one.difference.sets[0] if one.difference.sets else None


def _says_nothing(found: ConfidenceSet | None) -> bool:
    """Whether a set has every effect on outcomes from 0 to 1 in it, or is not bounded."""
    return found is not None and (not found.is_bounded or (found.low <= -1.0 and found.high >= 1.0))


def _taken(analysis: Analysis) -> Iterator[str]:
    mediation = analysis.mediation
    views = "as-treated and per-protocol"
    depends = [arm for arm in mediation.arms if arm.refuted or arm.differs]
    if mediation.refuted is None:
        yield (
            f"Do not rely on {views}: {_lower(mediation.sentence)} They compare people who chose for themselves what "
            "to take."
        )
    elif mediation.equivalent:
        yield from _equivalent(analysis)
    elif depends or mediation.refuted or mediation.differs:
        yield f"Do not read {_with_numbers(analysis)} as effects of the treatment here."
        yield from (arm.sentence for arm in depends)
        if not depends:
            yield mediation.sentence
        yield "Who takes what is related to how they fare, so those who took different arms are not comparable."
    else:
        yield (
            f"Whether {views} can be trusted is not decided: people who took the same arm are not seen to fare "
            "differently depending on what they were assigned, but a difference larger than the margin of "
            f"{mediation.margin:g} is not excluded. Not finding a difference does not make these views safe."
        )


def _equivalent(analysis: Analysis) -> Iterator[str]:
    alike = "People who took the same arm fared alike whatever they were assigned"
    shift = _largest_shift(analysis)
    if shift < _WEAK:
        yield (
            f"{alike}, but that says little here: assignment changed the share that takes an arm by at most "
            f"{100 * shift:.0f} percentage points, so that nearly the same people are compared. Do not read "
            "as-treated and per-protocol as effects of the treatment."
        )
        return
    yield (
        f"{alike}, to within the margin of {analysis.mediation.margin:g}. So nothing speaks against reading "
        "as-treated as the effect of taking an arm, provided that those who were never seen taking an arm would "
        "respond to it like those who were; these data cannot show that."
    )
    if analysis.adaptive:
        yield "The intervals of as-treated are fixed-sample ones, which do not hold under adaptive allocation."


def _everybody(analysis: Analysis) -> Iterator[str]:
    for bound in analysis.bounds.bounds:
        is_effect = bound.quantity == "effect" and bound.control == analysis.control and bound.assumption == "none"
        if is_effect and bound.low is not None and bound.high is not None and not analysis.bounds.inequality.refuted:
            limits = f" (with sampling error {bound.limits})" if bound.limits is not None else ""
            yield (
                "For the effect if everybody took an arm, the bounds are what the data say without assuming who "
                f"complies: {bound.treatment} against {bound.control} from {bound.low:+.3f} to {bound.high:+.3f}"
                f"{limits}."
            )
            return


def _effects(analysis: Analysis, view: View, treatments: list[str] | None = None) -> str:
    """The effects against control by one view, with the set that holds for the allocation."""
    said: dict[str, str] = {}
    for sequence in analysis.sequences if analysis.adaptive else ():
        if sequence.view is view and sequence.control == analysis.control:
            said[sequence.treatment] = f"{estimate(sequence.estimate, sequence.final, sign=True)}, any-time valid"
    for one in analysis.effects.comparisons:
        if one.view is view and one.control == analysis.control and one.difference.value is not None:
            said.setdefault(one.treatment, quantity(one.difference, sign=True))
    kept = [
        f"{name} against {analysis.control} {text}"
        for name, text in said.items()
        if not treatments or name in treatments
    ]
    more = f"; and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    return f" Here: {'; '.join(kept[:_NAMED])}{more}." if kept else ""


def _with_numbers(analysis: Analysis) -> str:
    """As-treated and per-protocol, with what they say of two arms."""
    said = []
    for view in (View.AS_TREATED, View.PER_PROTOCOL):
        values = [one.difference.value for one in analysis.effects.comparisons if one.view is view]
        value = values[0] if len(values) == 1 else None
        said.append(view.value if value is None else f"{view.value} ({signed(value)})")
    return " and ".join(said)


def _largest_shift(analysis: Analysis) -> float:
    """By how much the share that takes an arm differs between arms assigned, at most."""
    shifts = [0.0]
    for arm in analysis.arms:
        shares = [one.matrix[arm].value for one in analysis.flow.arms]
        known = [share for share in shares if share is not None]
        shifts.append(max(known) - min(known) if known else 0.0)
    return max(shifts)


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
