"""Description of each view in words: estimand, strategy by ICH E9(R1), assumptions and result."""

from collections.abc import Mapping
from dataclasses import replace

from adhere.analysis.estimates import View
from adhere.analysis.findings import Estimand, Findings
from adhere.analysis.formatting import estimate, first_few, quantity
from adhere.analysis.sentences import texts

_EVERYBODY = "everybody (bounds)"


def any_time_in_words(analysis: Findings, view: View) -> dict[str, str]:
    """Return the confidence sequence of each treatment against control by a view, if the allocation adapted."""
    found = analysis.sequences if analysis.adaptive else ()
    return {
        one.treatment: f"{estimate(one.estimate, one.final, sign=True)}, any-time valid"
        for one in found
        if one.view is view and one.control == analysis.control
    }


def effects_in_words(analysis: Findings, view: View) -> dict[str, str]:
    """Return the effect of each treatment against control by a view, with the set valid for the allocation."""
    said: dict[str, str] = {}
    for one in analysis.effects.comparisons:
        if one.view is view and one.control == analysis.control:
            said.setdefault(one.treatment, quantity(one.difference, sign=True))
    return said | any_time_in_words(analysis, view)


def estimands(analysis: Findings) -> tuple[Estimand, ...]:
    """Describe the views in words; if the allocation adapted, results have the confidence sets valid for it."""
    said = {view.value: effects_in_words(analysis, view) for view in View} | {_EVERYBODY: {}}
    for bound in analysis.bounds.bounds:
        if bound.quantity == "effect" and bound.control == analysis.control and bound.assumption == "none":
            text = bound.reason if bound.low is None else f"from {bound.low:z.3f} to {bound.high:z.3f}"
            said[_EVERYBODY].setdefault(bound.treatment, f"{text}, limits {bound.limits}" if bound.limits else text)
    words = texts("trust/estimands.toml")
    found = {view: Estimand(view, **words[view], says=_listed(said[view])) for view in words}
    if not (analysis.adaptive and analysis.sequences):  # sequences take missing outcomes at their worst case
        at_random = "outcomes are missing at random given the arm assigned, what was taken and the stratum"
        taken_at_random = "what was taken is missing at random given the arm assigned and the stratum"
        assumed: list[tuple[View, str]] = []
        if any(analysis.missing.outcomes.values()):
            assumed += [(View.INTENTION_TO_TREAT, at_random), (View.COMPLIERS, at_random)]
        if any(analysis.missing.taken.values()):
            assumed.append((View.COMPLIERS, taken_at_random))
        for view, more in assumed:
            one = found[view.value]
            found[view.value] = replace(one, assumes=f"{one.assumes}; and that {more}")
    return tuple(found.values())


def _listed(found: Mapping[str, str]) -> str:
    if len(found) == 1:
        return next(iter(found.values()))
    return first_few([f"{treatment}: {text}" for treatment, text in found.items()]) or "nothing here"
