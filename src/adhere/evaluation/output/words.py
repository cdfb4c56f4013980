"""Explanations of a report on designs: definitions, methods, fields and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adhere.design.design import plain
from adhere.report.numbers import counted
from adhere.report.page import GLOSSARY

if TYPE_CHECKING:
    from adhere.design.design import Design
    from adhere.evaluation.evaluation_data import EvaluationData

LEFT_BEHIND = (
    "The arm that a trial leaves behind is the one found superior; where none was, the control, or without one, of "
    "the arms not dropped, the one with the highest mean outcome."
)
METHODS = {
    "scenarios": [
        "In a grid, those who do not comply take one arm whatever they are recommended, each arm as many as another; "
        "confounding is by how much the mean outcome of those who always take the treatment is higher, and of those "
        "who never take it lower, whatever they take.",
        "Sharp null: nobody's outcome depends on what is taken. Average null: some gain from the treatment and some "
        "lose, but on average it makes no difference which arm is recommended; in a grid half of those who comply "
        "gain as much (the column average null) as the other half lose.",
        "Baseline is the mean outcome of those who comply without an effect, and effect what taking the treatment "
        "adds for everybody.",
    ],
    "errors": [
        "Claims are about the arm recommended (intention-to-treat). With a control, an arm found superior or "
        "inferior claims a difference from it; without one, an arm found superior claims to be the best. The error "
        "of any claim is the family-wise one. Claims in either direction count (two-sided), as far as the design "
        "makes them.",
        "The interval of the largest error is of that scenario alone, and does not allow for its being the largest "
        "of several.",
    ],
    "power": [
        "Wrong direction: a worse arm is claimed to be better, or a better one worse.",
        LEFT_BEHIND,
    ],
    "conclusions": [
        "These are of the trial as a whole. Superior: an arm was found superior. Inferior, equivalent or futile: no "
        "arm beside the control is left, and the last was dropped for that (of two arms without a control the first "
        "counts as one). Without a control, equivalent: all arms left are alike. Inconclusive: none of these by the "
        "end.",
        "With more than two arms an arm may be found inferior and dropped while the trial goes on, so these shares "
        "need not add up to the probability of a claim.",
    ],
    "allocation": [
        "Surplus over 1:1 is the expected number of good outcomes above equal shares of the arms, summed over a "
        "trial's patients; worse than 1:1 is the share of trials in which it is below zero by more than a permuted "
        "block cut short at the end can explain.",
        "Ideal design percentage: where the arm that a trial leaves behind stands on the way from the worst arm (0) "
        "to the best (100); by the mean outcome if it is recommended, and if everybody took it.",
        LEFT_BEHIND,
    ],
    "estimates": [
        "Naive estimates and intervals are those of a trial with fixed allocation and one look: the difference of "
        "means by the arm recommended, and that divided by the difference in what was taken for compliers.",
        "Any-time valid ones are of the confidence sequence of the analysis, which knows the probability of each arm "
        "and holds whenever one stops.",
    ],
}

# The scale of each section if lower outcomes are better: that of the scenarios, y, or that of estimates, 1 − y.
_LOWER = {
    "scenarios": ("mean outcome", "mean outcome y"),
    "power": ("highest mean outcome", "lowest mean outcome y"),
    "allocation": ("mean outcome", "mean of 1 − y"),
}
_TURNED = "Effects in this section are of 1 − y: one above 0 is good. The names of scenarios have effects on y."


def methods(section: str, lower_is_better: bool) -> list[str]:
    """Return how a section's quantities are defined, on the scale that it shows: an outcome y, or 1 − y."""
    said = METHODS[section]
    if not lower_is_better:
        return said
    if section == "estimates":
        return [_TURNED, *said]
    return [one.replace(*_LOWER[section]) for one in said] if section in _LOWER else said


_SHARED = ("arm", "policy", "population", "floor")
WORDS = {
    **{word: GLOSSARY[word] for word in _SHARED},
    "burn-in": "The first patients, randomised in permuted blocks.",
    "look": "A moment at which the outcomes so far are judged, and the trial may stop or drop an arm.",
    "scenario": "Who takes what, and how they fare: a truth that simulated trials meet.",
    "compliers": "Patients who take what is recommended to them.",
    "confounding": "Those who take an arm whatever is recommended would have fared differently anyway.",
    "sharp null": "Nobody's outcome depends on what is taken.",
    "average null": "Outcomes may depend on what is taken, but on average not on what is recommended.",
    "type I error": "The probability of claiming a difference where there is none.",
    "power": "The probability of claiming a difference that is there, in its direction.",
    "intention-to-treat": "By the arm recommended, whatever was taken.",
    "coverage": "The share of trials whose interval holds the true effect.",
    "RMSE": "Root mean squared error of an estimate.",
    "surplus": "Expected good outcomes above equal shares of the arms, summed over a trial's patients.",
    "Monte Carlo standard error": "The standard deviation that a simulated number has over simulations with other "
    "seeds, because they have finitely many trials.",
    "95% interval": "Of a simulated number: by Wilson for probabilities, else the mean ± 1.96 standard errors.",
}


def design_fields(design: Design) -> list[list[str]]:
    """The fields that differ from their defaults, as the design's file has them."""
    return [[name, text] for name, text in _flat("", plain(design))]


def _flat(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [pair for key, one in value.items() for pair in _flat(f"{name}.{key}" if name else key, one)]
    if isinstance(value, (list, tuple)):
        return [(name, ", ".join(map(str, value)))]
    return [(name, ("no", "yes")[value] if isinstance(value, bool) else str(value))]


def simulation_details(evaluation: EvaluationData) -> list[str]:
    """How trials were simulated, in sentences."""
    return [
        f"Each scenario was met by {counted(evaluation.n_trials, 'simulated trial')} of each design, with the same "
        "compiled policies and rules that run live trials; trial number r of every design meets the same patients.",
        "Patients come, outcomes are reported late or never, looks are made and arms dropped as the design says. On "
        "one day recommendations come first, then reports, then looks.",
        "Outcomes that are still awaited when a trial stops are followed up, and count for its estimates.",
        f"Random numbers follow from the seed {evaluation.seed}: the same version of adhere, design, scenarios, seed "
        "and number of trials give the same numbers on any machine, by processor or graphics card.",
        "The seed of a live trial is drawn when it is created, and is no part of its design or of this report.",
    ]
