"""Every confidence set that an analysis shows, with its mark and the truth that it should contain."""

from collections.abc import Iterator, Set
from typing import NamedTuple

from adhere.analysis.analysis import Analysis
from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Validity, View
from adhere.analysis.formatting import ASSUMPTIONS
from adhere.analysis.output.effect_rows import AT_RANDOM as IF_AT_RANDOM
from adhere.analysis.output.effect_rows import (
    LIKE_THEIR_ARM,
    MISLEADING,
    NO_ESTIMAND,
    NOT_ADAPTIVE,
    EffectRow,
    effect_rows,
)
from adhere.analysis.output.effect_rows import NO_DEFIERS as IF_NO_DEFIERS
from adhere.studies.coverage.synthetic.trials import ALWAYS, AT_RANDOM, COMPLIER, GIVEN_ARM, NEVER, NO_DEFIERS, Trial

WITHHELD = "withheld"
PROMISED = (Validity.FIXED.value, Validity.ANY_TIME.value, Validity.ADAPTIVE.value)
_WHO = {"always-takers": (ALWAYS, 1), "never-takers": (NEVER, 0), "compliers, treated": (COMPLIER, 1),
        "compliers, untreated": (COMPLIER, 0)}  # fmt: skip
_OF_MISSING = {IF_AT_RANDOM: AT_RANDOM, LIKE_THEIR_ARM: GIVEN_ARM}


class Shown(NamedTuple):
    """A confidence set in a table, with its quantity, row and mark. `found` is None if the table withholds it.

    `assumes` contains the assumptions that the row names and that some trial breaks.
    """

    quantity: str
    row: str
    mark: str
    found: ConfidenceSet | None
    truth: float | None
    assumes: frozenset[str] = frozenset()


def shown_sets(analysis: Analysis, trial: Trial) -> Iterator[Shown]:
    """Yield every confidence set in the tables that `summary` prints."""
    for pair in analysis.pairs:
        treatment, control = (trial.arms.index(arm) for arm in pair)
        for row in effect_rows(analysis, *pair):
            yield _effect(row, trial, treatment, control)
    for one in analysis.effects.comparisons:
        yield _ratio(analysis, one, trial)
    yield from _means(analysis, trial)
    yield from _bounds(analysis, trial)
    yield from _strata(analysis, trial)
    yield from _taken(analysis, trial)
    yield from _subgroups(analysis, trial)


def _effect(row: EffectRow, trial: Trial, treatment: int, control: int) -> Shown:
    view = row.view.partition(",")[0]
    quantity = f"{_contrast(view, trial.arms[treatment], trial.arms[control])}: difference"
    means = _means_compared(view, trial, treatment, control)
    truth = means[0] - means[1] if means else None
    mark = row.holds.partition(", p ")[0].removesuffix(f", {row.assumes}").removesuffix(f", {IF_NO_DEFIERS}")
    mark = NO_ESTIMAND if row.kind == NO_ESTIMAND else mark
    label = row.label
    if not row.method and row.found is not None and view == View.COMPLIERS.value:
        label = f"{label}, {row.found.method}"  # a set without an estimate has no method beside it
    assumes = {_OF_MISSING[row.assumes]} if row.assumes in _OF_MISSING else set()
    if IF_NO_DEFIERS in row.holds or row.method == ASSUMPTIONS["monotonicity"]:
        assumes.add(NO_DEFIERS)
    return _shown(quantity, label, row.found, truth, assumes, mark)


def _contrast(view: str, treatment: str, control: str) -> str:
    """Return a view's estimand in words."""
    if view == View.INTENTION_TO_TREAT.value:
        return f"assigning {treatment}, not {control}"
    among = " among compliers" if view == View.COMPLIERS.value else ""
    return f"taking {treatment}, not {control}{among}"


def _means_compared(view: str, trial: Trial, treatment: int, control: int) -> tuple[float, float] | None:
    """Return a view's mean outcomes under treatment and control, or None if the view's population is empty."""
    if view == View.INTENTION_TO_TREAT.value:
        return trial.mean_assigned(treatment), trial.mean_assigned(control)
    if view != View.COMPLIERS.value:
        return trial.mean_taken(treatment), trial.mean_taken(control)
    treated, untreated = (trial.complier_mean(treatment, control, arm) for arm in (treatment, control))
    return None if treated is None or untreated is None else (treated, untreated)


def _assumed(view: View, trial: Trial) -> set[str]:
    """Return the assumptions behind a mean or a ratio, as its notes name them."""
    if view in MISLEADING:
        return set()
    return ({NO_DEFIERS} if view is View.COMPLIERS else set()) | _of_lost(trial)


def _of_lost(trial: Trial) -> set[str]:
    """Return the assumption about missing outcomes, if some outcomes are missing."""
    return {AT_RANDOM} if trial.has_missing else set()


def _ratio(analysis: Analysis, one: Comparison, trial: Trial) -> Shown:
    treatment, control = trial.arms.index(one.treatment), trial.arms.index(one.control)
    means = _means_compared(one.view.value, trial, treatment, control)
    truth = means[0] / means[1] if means else None
    label, quantity = analysis.view_name(one), f"{_contrast(one.view.value, one.treatment, one.control)}: ratio"
    found, assumes = _first(one.ratio), _assumed(one.view, trial)
    return _shown(quantity, label, found, truth, assumes, _mark(analysis, found, one.view))


def _means(analysis: Analysis, trial: Trial) -> Iterator[Shown]:
    for one in analysis.effects.means:
        arm, found = trial.arms.index(one.arm), _first(one.mean)
        truth: float | None
        if one.view is View.INTENTION_TO_TREAT:
            truth = trial.mean_assigned(arm)
        elif one.view is View.COMPLIERS:
            truth = trial.mean_of(COMPLIER, arm)
        else:
            truth = trial.mean_taken(arm)
        mark, assumes = _mark(analysis, found, one.view), _assumed(one.view, trial)
        yield _shown(f"mean of {one.arm}", one.view.value, found, truth, assumes, mark)


def _bounds(analysis: Analysis, trial: Trial) -> Iterator[Shown]:
    for one in analysis.bounds.bounds:
        if one.control is None:
            truth = trial.mean_taken(trial.arms.index(one.treatment))
            assumes = {NO_DEFIERS} if one.assumption == "monotonicity" else set()
            row = f"bounds, {'with' if assumes else 'without'} monotonicity"
            yield _shown(f"mean if everybody took {one.treatment}", row, one.limits, truth, assumes)


def _strata(analysis: Analysis, trial: Trial) -> Iterator[Shown]:
    takes = {"always-takers": ALWAYS, "never-takers": NEVER, "compliers": COMPLIER}
    row, assumes = "principal strata", {NO_DEFIERS}
    for name, one in analysis.strata.shares.items():
        yield _shown(f"share of {name}", row, _first(one), trial.share_of(takes[name]), assumes)
    for name, one in analysis.strata.means.items():
        yield _shown(f"mean of {name}", row, _first(one), trial.mean_of(*_WHO[name]), assumes | _of_lost(trial))


def _taken(analysis: Analysis, trial: Trial) -> Iterator[Shown]:
    for assigned, one in enumerate(analysis.flow.arms):
        quantity, found = f"share of those assigned {one.arm} who take it", _first(one.compliance)
        truth = trial.share_taking(assigned, assigned)
        yield _shown(quantity, "compliance", found, truth, mark=_mark(analysis, found))
    for taken in analysis.mediation.arms:
        quantity = f"largest difference by arm assigned, given {taken.arm} taken"
        truth = trial.spread_given(trial.arms.index(taken.arm))
        yield _shown(quantity, "what was taken", _first(taken.largest_difference), truth, _of_lost(trial))


def _subgroups(analysis: Analysis, trial: Trial) -> Iterator[Shown]:
    for name, group in analysis.subgroups.items():
        for pair in analysis.pairs:
            given = group.assigned_effect(*pair, adaptive=analysis.adaptive)
            if pair[1] == analysis.control and given is not None:
                treatment, control = (trial.arms.index(arm) for arm in pair)
                truth = trial.mean_assigned(treatment, name) - trial.mean_assigned(control, name)
                quantity = f"assigning {pair[0]}, not {pair[1]}, in stratum {name}: difference"
                yield _shown(quantity, "subgroup", given[1], truth)


def _first(given: Quantity) -> ConfidenceSet | None:
    return given.sets[0] if given.sets else None


def _mark(analysis: Analysis, found: ConfidenceSet | None, view: View | None = None) -> str:
    """Return the mark of a confidence set if its table's caption qualifies the set, or an empty text."""
    if view in MISLEADING:
        return NO_ESTIMAND
    return NOT_ADAPTIVE if analysis.adaptive and found and found.validity is Validity.FIXED else ""


def _shown(
    quantity: str, row: str, found: ConfidenceSet | None, truth: float | None, assumes: Set[str] = frozenset(),
    mark: str = "",
) -> Shown:  # fmt: skip
    """Return a confidence set with its mark, by default its validity. The mark of a missing set is "withheld"."""
    mark = (mark or found.validity.value) if found else WITHHELD
    return Shown(quantity, row, mark, found, truth, frozenset(assumes))
