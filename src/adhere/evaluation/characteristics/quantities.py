"""Definitions of operating characteristics: meanings, columns, and why a characteristic is missing in a scenario."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from adhere.design.design import Design
from adhere.design.stopping_checks import why_not_exact
from adhere.evaluation.characteristics import monte_carlo
from adhere.evaluation.characteristics.measure import differences
from adhere.evaluation.outcomes import (
    COVERS,
    ERROR,
    HAS_ESTIMATE,
    HAS_INTERVAL,
    METHODS,
    SQUARED_ERROR,
    VIEWS,
    Columns,
)
from adhere.evaluation.scenarios.scenario import SAME, Truth
from adhere.intervals import Estimate
from adhere.looks.judge import ACTIVE, NAMES
from adhere.simulation.measures.moments import Moments

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
INCONCLUSIVE = "inconclusive"  # status of a trial or an arm that has none of the others

_NO_STOPPING = "the design has no stopping rule, so its trials claim nothing"
_NO_ZERO = "every arm that could be claimed to differ does differ"
_NO_DIFFERENCE = "all arms are equally good to recommend"
_IS_CONTROL = "it is the control, which the other arms are compared with"
_VARIES = "each trial has a population of its own, drawn from a prior"
_NOT_SAID = "the scenario does not say what would follow if everybody took each arm"
_SAME_TAKEN = "all arms are equally good to take"


class Quantity(NamedTuple):
    """Characteristic before it is estimated: its key, columns and estimator, or the reason why it is missing."""

    name: str
    estimator: Callable[..., Estimate | None]  # called with moments and columns, or with a distribution and q
    where: tuple[int, ...]
    reason: str = ""
    arm: int | None = None
    estimand: str | None = None
    method: str | None = None
    q: float | None = None
    distribution: str = ""


def quantities(design: Design, truth: Truth, columns: Columns) -> Iterator[Quantity]:
    """Iterate over the characteristics of a design: of the trial, of each arm, and of each estimate."""
    k = truth.n_arms
    yield from _claims(design, truth, columns, None)
    yield from _statuses(design, columns, None)
    equal = "" if truth.varies or np.ptp(truth.means) > SAME else _NO_DIFFERENCE
    yield Quantity("select_best", monte_carlo.probability, (columns.where("selects_best"),), equal)
    for name, part, distribution, quantile in (
        ("sample_size", "n_patients", "sizes", monte_carlo.quantile_of_counts),
        ("duration", "days", "days", monte_carlo.quantile_of_spread),
    ):
        powers = tuple(columns.where(part, power) for power in range(columns.shape(part)[0]))
        yield Quantity(name, Moments.estimate, powers[:1])
        yield Quantity(f"{name}_sd", monte_carlo.standard_deviation, powers)
        for q in QUANTILES:
            yield Quantity(f"{name}_q{round(100 * q):02}", quantile, (), q=q, distribution=distribution)
    yield Quantity("n_looks", Moments.estimate, (columns.where("n_looks"),))
    yield Quantity("recommended_inferior", Moments.mean_share, (columns.where("recommended_inferior"),), equal)
    taken = _of_taken(truth)
    yield Quantity("took_inferior", Moments.mean_share, (columns.where("took_inferior"),), taken)
    for name in ("outcome", "surplus", "realised_surplus"):
        yield Quantity(name, Moments.estimate, (columns.where(name),))
    yield Quantity("surplus_q05", monte_carlo.quantile_of_spread, (), equal, q=0.05, distribution="surplus")
    worse = "worse_than_randomisation"
    yield Quantity(worse, monte_carlo.probability, (columns.where(worse),), equal)
    yield Quantity("ideal_recommending", Moments.estimate, (columns.where("ideal_recommending"),), equal)
    yield Quantity("ideal_treating", Moments.estimate, (columns.where("ideal_treating"),), taken)
    for arm in range(k):
        yield from _claims(design, truth, columns, arm)
        yield from _statuses(design, columns, arm)
        yield Quantity("selected", monte_carlo.probability, (columns.where("selected", arm),), arm=arm)
        yield Quantity("n_recommended", Moments.estimate, (columns.where("chosen", arm),), arm=arm)
        for name in ("allocation", "taken"):
            yield Quantity(name, Moments.mean_share, (columns.where(name, arm),), arm=arm)
    estimated = why_not_exact(design)
    for view, method, arm in product(design.estimands, METHODS, range(k)):
        if arm != truth.compared_with:
            found = _estimates(truth, columns, view, method, arm)
            lacks = estimated and method == METHODS[1]
            yield from (one._replace(reason=estimated) for one in found) if lacks else found


def _claims(design: Design, truth: Truth, columns: Columns, arm: int | None) -> Iterator[Quantity]:
    """Iterate over error rates and power, of one arm or family-wise."""
    place = truth.n_arms if arm is None else arm
    found = differences(truth.means[None, :], truth.control)[0]
    candidates = [one for one in range(truth.n_arms) if one != truth.control] if arm is None else [arm]
    zero = any(abs(found[one]) <= SAME for one in candidates)
    # Without a control, the only claim is that an arm is better than all others.
    findable = any(found[one] > SAME or (truth.control is not None and found[one] < -SAME) for one in candidates)
    reasons = {
        "type_one": "" if zero else _NO_ZERO,
        "power": "" if findable else _NO_DIFFERENCE if zero else "another arm is better",
        "wrong_claim": "" if any(abs(found[one]) > SAME for one in candidates) else _NO_DIFFERENCE,
    }
    if arm is not None and zero:
        reasons["power"] = reasons["wrong_claim"] = "the arm does not differ"
    elif arm is not None:
        reasons["type_one"] = "the arm does differ"
    if truth.varies:
        alone = "" if arm is None or truth.control is not None else f"{_VARIES}; which arm is best differs"
        reasons = {"type_one": f"{_VARIES}; its arms always differ", "power": alone, "wrong_claim": alone}
    if arm is not None and arm == truth.control:
        reasons = dict.fromkeys(reasons, _IS_CONTROL)
    if design.stopping is None:
        reasons = dict.fromkeys(reasons, _NO_STOPPING)
    parts = {"type_one": "false_claim", "power": "right_claim", "wrong_claim": "wrong_claim"}
    for name, part in parts.items():
        yield Quantity(name, monte_carlo.probability, (columns.where(part, place),), reasons[name], arm)


def _statuses(design: Design, columns: Columns, arm: int | None) -> Iterator[Quantity]:
    """Iterate over the final statuses of the trial or of an arm."""
    reason = _NO_STOPPING if design.stopping is None else ""
    for status in (*range(ACTIVE + 1, len(NAMES)), ACTIVE):
        name = INCONCLUSIVE if status == ACTIVE else NAMES[status]
        where = columns.where("decision", status) if arm is None else columns.where("status", arm, status)
        yield Quantity(name, monte_carlo.probability, (where,), reason, arm)


def _of_taken(truth: Truth) -> str:
    """Return why no arm is known to be better to take than another, or an empty string if some arm is."""
    if np.isnan(truth.if_taken).any():
        return _VARIES if truth.varies else _NOT_SAID
    return "" if np.ptp(truth.if_taken) > SAME else _SAME_TAKEN


def _estimates(truth: Truth, columns: Columns, view: str, method: str, arm: int) -> Iterator[Quantity]:
    """Iterate over bias, error and coverage of one estimate."""
    place = (METHODS.index(method), VIEWS.index(view), arm)
    has, error, squared, has_interval, covers = (
        columns.where("estimate", *place, number)
        for number in (HAS_ESTIMATE, ERROR, SQUARED_ERROR, HAS_INTERVAL, COVERS)
    )
    effect, compliers = truth.effects[place[2], place[1]], view == VIEWS[1]
    reason = ""
    if truth.varies and (compliers or method == METHODS[1]):
        reason = _VARIES
    elif np.isnan(effect) and not truth.varies:
        reason = "the scenario has no people who take either arm when told to, or does not say who they are"
    no_claim = reason or ("" if abs(effect) <= SAME else "there is an effect")
    if compliers and truth.null != "sharp":
        no_claim = "claims about compliers are judged under the sharp null only"
    if truth.varies:
        no_claim = f"{_VARIES}; its arms always differ"
    yield Quantity("estimable", monte_carlo.probability, (has,), reason, arm, view, method)
    yield Quantity("bias", monte_carlo.mean_where_any, (has, error), reason, arm, view, method)
    yield Quantity("rmse", monte_carlo.root_mean_square, (has, squared), reason, arm, view, method)
    yield Quantity("coverage", monte_carlo.probability_where_any, (has_interval, covers), reason, arm, view, method)
    yield Quantity("interval_error", monte_carlo.miss_where_any, (has_interval, covers), no_claim, arm, view, method)


_SHARES = {"05": "5% of", "25": "25% of", "50": "half of the", "75": "75% of", "95": "95% of"}  # shares of trials
MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "type_one": "Probability of claiming a difference where there is none: about any arm (family-wise), or about "
        "one. With a control an arm is claimed to differ from it if it ends superior or inferior; without one it is "
        "claimed to be better than all others if it ends superior (of two arms also if the other ends inferior). "
        "Differences are of intention-to-treat.",
        "power": "Probability of a claim in the direction of the true difference: about any arm that differs from "
        "the control (without one: about the one best arm), or about one arm.",
        "wrong_claim": "Probability of a claim in the direction opposite to the true difference: about any arm, or "
        "one.",
        "superior": "Probability that the trial stops because an arm is superior. For one arm: that it ends "
        "superior.",
        "inferior": "Probability that the trial stops because the last arm beside the control is inferior. For one "
        "arm: that it is dropped as inferior.",
        "equivalent": "Probability that the trial stops for equivalence. For one arm: that it ends equivalent.",
        "futile": "Probability that the trial stops for futility. For one arm: that it is dropped as futile.",
        "inconclusive": "Probability that the trial runs to its end without a conclusion. For one arm: that it ends "
        "without a status.",
        "select_best": "Probability that the arm the trial leaves behind is the best to recommend, or one of the "
        "best. This is the arm found superior; if there is none, the control; without a control, the arm with the "
        "highest mean outcome among arms not dropped.",
        "selected": "Probability that the trial leaves this arm behind.",
        "sample_size": "Mean number of patients recommended an arm.",
        "sample_size_sd": "Standard deviation of that number over trials.",
        **{f"sample_size_q{q}": f"The number that {some} trials do not exceed." for q, some in _SHARES.items()},
        "duration": "Mean number of days from the first patient to the last look.",
        "duration_sd": "Standard deviation of the duration over trials.",
        **{f"duration_q{q}": f"The duration that {some} trials do not exceed." for q, some in _SHARES.items()},
        "n_looks": "Mean number of looks.",
        "n_recommended": "Mean number of patients recommended the arm.",
        "allocation": "Mean over trials of the share of patients recommended the arm.",
        "taken": "Mean over trials of the share of patients who took the arm.",
        "recommended_inferior": "Mean over trials of the share of patients recommended an arm that is not among "
        "the best to recommend.",
        "took_inferior": "Mean over trials of the share of patients who took an arm that is not among the best to "
        "take (by the mean outcome if everybody took it).",
        "outcome": "Mean over trials of the mean outcome of the patients.",
        "surplus": "Expected sum of outcomes given the arms recommended, minus that of the same number of patients "
        "randomised in equal shares.",
        "surplus_q05": "The surplus that 5% of trials do not exceed.",
        "realised_surplus": "Sum of outcomes, minus the mean over arms of what the same patients would have had.",
        "worse_than_randomisation": "Probability that a trial's surplus is below 0, by more than a permuted "
        "block cut short at the end can explain (one block in each stratum).",
        "ideal_recommending": "Ideal design percentage: position of the arm left behind between the worst arm (0) "
        "and the best (100), by the mean outcome if it is recommended.",
        "ideal_treating": "The same by the mean outcome if everybody took the arm.",
        "estimable": "Share of trials that have the estimate.",
        "bias": "Mean of estimate minus true effect, over the trials that have the estimate.",
        "rmse": "Root of the mean squared difference between estimate and true effect, over the same trials.",
        "coverage": "Probability that the 95% interval contains the true effect, over the trials that have an "
        "interval. For any-time valid intervals: that it contains it after every decision.",
        "interval_error": "Probability that the 95% interval leaves out 0 where there is no effect: for "
        "intention-to-treat under either null, for compliers under the sharp null only.",
    }
)
