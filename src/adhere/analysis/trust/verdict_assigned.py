"""Sentences of the verdict on intention-to-treat: whether its interval holds, and what missing outcomes do to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from adhere.analysis.confidence_set import Validity
from adhere.analysis.missing_outcomes.sensitivity import COMPLETE_CASES
from adhere.analysis.trust.mediation_words import and_list

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis
    from adhere.analysis.fixed_sample.comparison import Comparison

_DECLARED: Final = (
    "It was declared (--fixed-allocation) that the probabilities of arms were fixed in advance and that this is the "
    "only look; "
)
_HOLDS: Final = "Its interval holds if the probabilities of arms were fixed in advance and this is the only look."
_WHY: Final = "approximate (the notes say why)"
_ROUGH: Final = (
    f"Its interval is {_WHY}, and assumes that the probabilities of arms were fixed in advance and that this is the "
    "only look."
)


def if_fixed(compared: Mapping[str, Comparison], *, declared: bool) -> str:
    """Return what the intervals of the comparisons promise for a fixed allocation; empty if there is no interval."""
    found = {name: one.difference.sets[0] for name, one in compared.items() if one.difference.sets}
    rough = [name for name, one in found.items() if one.validity is Validity.APPROXIMATE]
    if not found:
        return ""
    if len(rough) == len(found):
        return f"{_DECLARED}even so, its interval is {_WHY}." if declared else _ROUGH
    promise = f"{_DECLARED}if so, its interval holds." if declared else _HOLDS
    if not rough:
        return promise
    return f"{promise} {'That' if len(rough) == 1 else 'Those'} of {and_list(rough)} {_are(len(rough))} {_WHY}."


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def on_missing_outcomes(
    analysis: Analysis, compared: Mapping[str, Comparison], compliers: Mapping[str, Comparison]
) -> Iterator[str]:
    """Say how the views take missing outcomes, and which rows beside them say what depends on it."""
    if not any(analysis.missing.outcomes.values()):
        return
    if analysis.adaptive and analysis.sequences:
        yield "Missing and pending outcomes enter the any-time valid set at their worst case: they cannot mislead it."
    elif any(one.difference.value is not None for one in compared.values()):
        has_compliers = any(one.difference.value is not None for one in compliers.values())
        stratum = " in the same stratum" * bool(analysis.subgroups)
        yield (
            f"Outcomes are missing. This view {'and compliers take' if has_compliers else 'takes'} each as the mean "
            f"of the known ones of those who were assigned and took the same{stratum}: that is right only if they "
            f"are missing at random given these.{_beside(analysis)}"
        )
    elif analysis.missing.extremes:
        yield "Worst-case bounds say between which limits this effect lies, whatever the missing outcomes are."


def _beside(analysis: Analysis) -> str:
    found = analysis.missing.sensitivity
    complete = any(
        one.assumption == COMPLETE_CASES and one.difference.value is not None for one in found.alternatives
    )
    names = ["complete cases"] * complete + ["worst-case bounds"] * bool(analysis.missing.extremes)
    names += ["tipping points"] * bool(found.tipping_points)
    return f" {and_list(names).capitalize()} beside it say what depends on that." if names else ""
