"""The stopping rules of a design in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist
from typing import Final

from adhere.design.design import Design
from adhere.design.look_rules import boundary_values
from adhere.design.parts import Stopping, Threshold
from adhere.design.planned_looks import look_counts, planned_looks

_EVIDENCE: Final = {
    "posterior": "posterior probabilities, from the outcomes of each arm recommended and uniform priors",
    "belief": "what the policy itself believes",
    "z-test": "a z-test of the outcomes of each arm recommended",
    "wealth": "the wealth of bets against no effect, as in the analysis' confidence sequence",
}
_BOUNDARIES: Final = {"obrien-fleming": "O'Brien and Fleming", "pocock": "Pocock"}
_MAX_LOOKS: Final = 60  # whose critical values are found within a second
_MAX_SAID: Final = 10
_BINDING: Final = "but not at the last look. That is binding: type I errors rely on it."


def stopping_sentences(design: Design) -> Iterator[str]:
    """What decides at a look, and at which numbers."""
    rules = design.stopping
    if rules is None:
        return
    yield f"A look decides by {_EVIDENCE[rules.by]}."
    if rules.by == "wealth":
        yield (
            f"An arm is better or worse than {_other(design)} if that holds at any time at level {rules.alpha:g}: "
            "the trial stops for the better, and drops the worse."
        )
    elif rules.by == "z-test":
        yield from _by_z(design, rules)
    else:
        yield from _by_probability(design, rules)


def _other(design: Design) -> str:
    return design.arms[0] if design.control is None else design.control


def _by_probability(design: Design, rules: Stopping) -> Iterator[str]:
    of = "best" if design.control is None else f"better than {design.control}"
    if rules.superiority is not None:
        high = _at(rules.superiority)
        yield f"The trial stops for superiority once an arm is {of} with a probability of {high} or more."
    mirrors_nothing = isinstance(rules.inferiority, str) and rules.superiority is None
    if rules.inferiority is not None and not mirrors_nothing:
        low = _at(_complement(rules.superiority) if isinstance(rules.inferiority, str) else rules.inferiority)
        yield f"An arm is dropped for inferiority once it is {of} with a probability of {low} or less."
    if rules.equivalence is not None and rules.margin is not None:
        ends = "the trial stops" if design.control is None else "an arm is dropped"
        whom = "all arms left differ" if design.control is None else f"it differs from {design.control}"
        yield (
            f"For equivalence {ends} once {whom} by less than {rules.margin:g} with a probability of "
            f"{_at(rules.equivalence)} or more."
        )
    if rules.futility is not None:
        gain = "any gain" if rules.margin is None else f"a gain of more than {rules.margin:g}"
        yield (
            f"An arm is dropped for futility once {gain} over {_other(design)} has a probability of "
            f"{_at(rules.futility)} or less, {_BINDING}"
        )


def _by_z(design: Design, rules: Stopping) -> Iterator[str]:
    if rules.boundary is not None:
        yield (
            f"An arm is better or worse than {_other(design)} beyond the boundary of {_BOUNDARIES[rules.boundary]}, "
            f"two-sided at level {rules.alpha:g}: the trial stops for the better, and drops the worse."
        )
        if planned_looks(design) <= _MAX_LOOKS:
            yield f"Its critical values of |z|: {_critical(design)}."
    if rules.superiority is not None:
        yield f"The trial stops for superiority over {_other(design)} at a z of {_at(rules.superiority)} or more."
    if rules.inferiority is not None and not isinstance(rules.inferiority, str):
        yield f"An arm is dropped for inferiority at a z of minus {_at(rules.inferiority)} or less."
    elif rules.superiority is not None:
        yield f"An arm is dropped for inferiority at a z of minus {_at(rules.superiority)} or less."
    if rules.equivalence is not None and rules.margin is not None:
        yield (
            f"An arm is dropped for equivalence once its difference from {_other(design)}, with "
            f"{_at(rules.equivalence)} standard errors, is within {rules.margin:g}."
        )
    if rules.futility is not None:
        yield f"An arm is dropped for futility at a z of {_at(rules.futility)} or less, {_BINDING}"


def _complement(threshold: Threshold | None) -> Threshold:
    """1 minus it, in the decimals that it has; a design whose inferiority mirrors its superiority has one."""
    assert threshold is not None
    if isinstance(threshold, tuple):
        return tuple(round(1.0 - value, 12) for value in threshold)
    return round(1.0 - threshold, 12)


def _critical(design: Design) -> str:
    """The boundary in numbers, with what p would be at each look alone."""
    counts, values = look_counts(design), boundary_values(design)
    said = [
        f"{value:.3f} ({_p(value)}) at {100.0 * n / counts[-1]:.3g}%" for n, value in zip(counts, values, strict=True)
    ]
    said[0] += " of the information"
    said[-1] = f"{said[-1].rpartition(' at ')[0]} at the end"
    *first, last = said
    if len(said) > _MAX_SAID:
        first = [*first[:2], "…"]
    return f"{', '.join(first)} and {last}" if first else last


def _p(z: float) -> str:
    p = 2.0 * NormalDist().cdf(-z)
    return "p < 0.0001" if p < 0.0001 else f"p {p:.4f}"


def _at(threshold: Threshold) -> str:
    """A threshold: one number, or one for each look."""
    if isinstance(threshold, tuple):
        return f"{', '.join(f'{value:g}' for value in threshold)} (look by look)"
    return f"{threshold:g}"
