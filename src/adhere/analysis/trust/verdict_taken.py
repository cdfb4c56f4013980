"""Whether as-treated and per-protocol can be read, in sentences of the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adhere.analysis.output.texts import signed
from adhere.analysis.view import View

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis

_WEAK = 0.1  # of the share that takes an arm: a smaller difference between arms assigned can show little


def on_what_was_taken(analysis: Analysis) -> Iterator[str]:
    """What the test of what was taken makes of the views that compare people by it."""
    mediation = analysis.mediation
    views = "as-treated and per-protocol"
    depends = [arm for arm in mediation.arms if arm.refuted or arm.differs]
    if analysis.outcomes_drifted:
        yield (
            f"Do not rely on {views}: outcomes drifted over time while the allocation changed, and they compare "
            "people who chose for themselves what to take."
        )
    elif mediation.refuted is None:
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
        drift = ", or outcomes changed over time while the allocation did" * analysis.adaptive
        yield (
            f"Who takes what is related to how they fare, or being assigned an arm did something by itself{drift}; "
            f"{'in any case' if drift else 'either way'}, those who took different arms are not comparable."
        )
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
        f"{alike}, to within the margin of {analysis.mediation.margin:g}. This one check does not speak "
        "against reading as-treated as the effect of taking an arm, provided that those who were never seen taking "
        "an arm would respond to it like those who were; these data cannot show that."
    )
    if analysis.adaptive:
        yield "The intervals of as-treated are fixed-sample ones, which do not hold under adaptive allocation."


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
