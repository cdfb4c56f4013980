"""Each view in words: its estimand, the strategy by ICH E9(R1), what it assumes and says here."""

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files
from typing import Final

from adhere.analysis.estimates import View
from adhere.analysis.findings import Estimand, Findings
from adhere.analysis.formatting import estimate, first_few, quantity

_EVERYBODY = "everybody (bounds)"


_WORDS: Final[dict[str, dict[str, str]]] = tomllib.loads(
    (files("adhere.analysis.trust") / "estimands.toml").read_text(encoding="utf-8")
)


def effects_in_words(analysis: Findings, view: View) -> dict[str, str]:
    """The effect of each treatment against control by a view, with the set that holds for the allocation."""
    said: dict[str, str] = {}
    for one in analysis.effects.comparisons:
        if one.view is view and one.control == analysis.control:
            said.setdefault(one.treatment, quantity(one.difference, sign=True))
    for sequence in analysis.sequences if analysis.adaptive else ():
        if sequence.view is view and sequence.control == analysis.control:
            said[sequence.treatment] = f"{estimate(sequence.estimate, sequence.final, sign=True)}, any-time valid"
    return said


def estimands(analysis: Findings) -> tuple[Estimand, ...]:
    """The views in words; where the allocation adapted, they say the sets that hold for it."""
    said = {view.value: effects_in_words(analysis, view) for view in View} | {_EVERYBODY: {}}
    for bound in analysis.bounds.bounds:
        if bound.quantity == "effect" and bound.control == analysis.control and bound.assumption == "none":
            text = bound.reason if bound.low is None else f"from {bound.low:z.3f} to {bound.high:z.3f}"
            said[_EVERYBODY].setdefault(bound.treatment, f"{text}, limits {bound.limits}" if bound.limits else text)
    found = {view: Estimand(view, **words, says=_listed(said[view].items())) for view, words in _WORDS.items()}
    if not (
        analysis.adaptive and analysis.sequences
    ):  # confidence sequences take missing outcomes at their worst case
        outcomes, reports = any(analysis.missing.outcomes.values()), any(analysis.missing.taken.values())
        at_random = "outcomes are missing at random given the arm assigned, what was taken and the stratum"
        taken_at_random = "what was taken is missing at random given the arm assigned and the stratum"
        if outcomes:
            _assume(found, View.INTENTION_TO_TREAT, at_random)
            _assume(found, View.COMPLIERS, at_random)
        if reports:
            _assume(found, View.COMPLIERS, taken_at_random)
    return tuple(found.values())


def _assume(found: dict[str, Estimand], view: View, more: str) -> None:
    one = found[view.value]
    found[view.value] = replace(one, assumes=f"{one.assumes}; and that {more}")


def _listed(found: Iterable[tuple[str, str]]) -> str:
    each = list(found)
    if len(each) == 1:
        return each[0][1]
    return first_few([f"{treatment}: {text}" for treatment, text in each]) or "nothing here"
