"""Measurement of simulated trials: claims, a row of numbers per trial, and distributions over trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from adhere.design.design import Design
from adhere.design.planned_looks import burn_in_of
from adhere.evaluation.characteristics import naive_estimates
from adhere.evaluation.characteristics.naive_estimates import Estimates
from adhere.evaluation.outcomes import Columns, Floats, Ints, TrialOutcomes
from adhere.evaluation.scenarios.scenario import SAME, Bools, Truth, best_arms
from adhere.looks.judge import ACTIVE, EQUIVALENT, GO_ON, INFERIOR, NAMES, SUPERIOR
from adhere.simulation.measures.moments import EqualArrays
from adhere.simulation.measures.quantiles import Spread

Numbers: TypeAlias = Floats | Ints | Bools


class Claims(NamedTuple):
    """Claims about intention-to-treat effects, [run, arm].

    With a control, an arm is claimed to differ from it if its status is superior or inferior. Without a control, an
    arm is claimed to be better than all others if it is superior. With two arms this also counts if the other one is
    inferior.
    """

    false: Bools  # claims of a difference if there is none
    right: Bools  # claims in the direction of the true difference
    wrong: Bools  # claims in the opposite direction


def claims(status: Ints, means: Floats, control: int | None) -> Claims:
    """Return the claims, given the final status [run, arm] and the true means by arm chosen [1 or run, arm]."""
    up, down = status == SUPERIOR, status == INFERIOR
    if control is None:
        if status.shape[1] == 2:
            up = up | down[:, ::-1]
        down = np.zeros_like(up)
    else:
        up[:, control] = down[:, control] = False
    difference = differences(means, control)
    better, worse = difference > SAME, difference < -SAME
    return Claims((up | down) & ~better & ~worse, up & better | down & worse, up & worse | down & better)


def differences(means: Floats, control: int | None) -> Floats:
    """Return the gain from recommending each arm instead of the control or, without a control, the best other arm."""
    if control is not None:
        return means - means[:, [control]]
    others = np.repeat(means[:, None, :], means.shape[1], axis=1)
    others[:, np.arange(means.shape[1]), np.arange(means.shape[1])] = -np.inf
    gained: Floats = means - others.max(axis=2)
    return gained


def selected_arms(outcomes: TrialOutcomes, control: int | None) -> Ints:
    """Return the arm that each trial selects for future use, [run].

    This is the arm found superior. If there is none, it is the control. Without a control, it is the arm with the
    highest mean of known outcomes by arm chosen, among arms that were not dropped (the first one if tied).
    """
    if control is not None:
        return np.where(outcomes.superior_arm >= 0, outcomes.superior_arm, control)
    n, sums = outcomes.n.sum(axis=2), outcomes.sums.sum(axis=2)
    means = np.where(n > 0, sums / np.maximum(n, 1), -1.0)
    is_left = (outcomes.status == ACTIVE) | (outcomes.status == EQUIVALENT)
    best_left = np.where(is_left, means, -2.0).argmax(axis=1)
    return np.where(outcomes.superior_arm >= 0, outcomes.superior_arm, best_left)


_ROUNDING = 1e-12  # smallest surplus per patient that is not a rounding error


def measure_rows(
    outcomes: TrialOutcomes, truth: Truth, columns: Columns, means: Floats | None = None, n_cut: float = 0.0
) -> Floats:
    """Return a row of numbers for each trial, with the layout of `Columns`.

    `means` are the true mean outcomes by arm chosen, [1 or run, arm], if each trial has its own population
    (`PatientTables.means`). The default is the means of `truth`. `n_cut` is the number of patients of an arm that the
    end of the trial may cut from a permuted block (`most_cut`).
    """
    means = truth.means[None, :] if means is None else means
    found = {
        **_conclusions(outcomes, columns.n_looks),
        **_claims(outcomes, means, truth.control),
        **_size(outcomes),
        **_allocation(outcomes, means, truth, columns),
        **_benefit(outcomes, means, truth, n_cut),
        "estimate": _estimates(outcomes, means, truth),
    }
    rows = np.empty((len(outcomes.decision), columns.n_columns))
    for part in columns.parts:
        rows[:, columns.part(part)] = found[part].reshape(len(rows), -1)
    return rows


def _conclusions(outcomes: TrialOutcomes, n_looks: int) -> Mapping[str, Numbers]:
    """Return the final statuses of trials and arms and, by reason, whether each trial has stopped by each look."""
    every = np.arange(len(NAMES))
    decision = outcomes.decision[:, None] == every
    # A trial stops at the look at which its last arm gets a status; a look may have been skipped.
    stopped_at = np.where(outcomes.decision == GO_ON, n_looks - 1, outcomes.status_at.max(axis=1))
    has_stopped = stopped_at[:, None] <= np.arange(n_looks)
    stopped = decision[:, None, :] & has_stopped[:, :, None]
    stopped[:, :, GO_ON] = ~stopped[:, :, GO_ON + 1 :].any(axis=2)
    return {
        "decision": decision,
        "status": outcomes.status[:, :, None] == every,
        "stopped": stopped,
        "n_looks": outcomes.n_looks,
    }


def _claims(outcomes: TrialOutcomes, means: Floats, control: int | None) -> Mapping[str, Numbers]:
    made = claims(outcomes.status, means, control)
    return {f"{name}_claim": np.column_stack([one, one.any(axis=1)]) for name, one in made._asdict().items()}


def _size(outcomes: TrialOutcomes) -> Mapping[str, Numbers]:
    """Return the first three powers of the numbers of patients and days, for the error of a standard deviation."""
    powers = np.arange(1.0, 4.0)
    return {
        "n_patients": outcomes.n_patients[:, None] ** powers,
        "days": outcomes.days[:, None] ** powers,
    }


def _allocation(outcomes: TrialOutcomes, means: Floats, truth: Truth, columns: Columns) -> Mapping[str, Numbers]:
    """Return each arm's share of a trial's patients, overall and up to each point of the grid.

    A stopped trial keeps its last shares. The result also contains the shares of patients with an inferior arm.
    """
    size = outcomes.n_patients[:, None]
    grid = np.array(columns.grid, dtype=np.int64)
    so_far = np.minimum(grid, size)
    is_worse = ~best_arms(means)
    is_worse_taken = ~best_arms(truth.if_taken)[None, :]
    return {
        "chosen": outcomes.chosen,
        "allocation": outcomes.chosen / size,
        "taken": outcomes.taken / size,
        "recommended_inferior": (outcomes.chosen * is_worse).sum(axis=1) / size[:, 0],
        "took_inferior": (outcomes.taken * is_worse_taken).sum(axis=1) / size[:, 0],
        "over_time": outcomes.over_time / so_far[:, :, None],
        "running": size >= grid,
    }


def most_cut(design: Design) -> float:
    """Return how many patients an arm can lack if the trial ends before its permuted blocks are complete.

    This is an arm's share of the longest block, times the number of strata; 0 without a burn-in.

    >>> most_cut(Design("a", "burn-in(uniform, patients=30, block=4)", ("x", "y")))
    2.0
    """
    longest = max(burn_in_of(design).lengths, default=0)
    return max(1, len(design.strata)) * longest / len(design.arms)


def _benefit(outcomes: TrialOutcomes, means: Floats, truth: Truth, n_cut: float) -> Mapping[str, Numbers]:
    """Return the gains of patients in the trial, and of future patients by the arm that the trial selects."""
    selected = selected_arms(outcomes, truth.control)
    n_runs, n_arms = outcomes.chosen.shape
    above = means - means.mean(axis=1, keepdims=True)
    surplus = (outcomes.chosen * above).sum(axis=1)
    rounding = _ROUNDING * outcomes.n_patients
    surplus = np.where(np.abs(surplus) <= rounding, 0.0, surplus)
    lost_by_cut = n_cut * np.maximum(-above, 0.0).sum(axis=1)  # if the block had all its worse arms first
    means = np.broadcast_to(means, (n_runs, n_arms))
    is_best = best_arms(means)[np.arange(n_runs), selected]
    return {
        "selected": selected[:, None] == np.arange(n_arms),
        "selects_best": is_best,
        "outcome": outcomes.reward / outcomes.n_patients,
        "surplus": surplus,
        "realised_surplus": outcomes.reward - outcomes.baseline,
        "worse_than_randomisation": surplus + lost_by_cut < -rounding,
        "ideal_recommending": _ideal(means, selected),
        "ideal_treating": _ideal(np.broadcast_to(truth.if_taken, means.shape), selected),
    }


def _ideal(means: Floats, selected: Ints) -> Floats:
    """Return where the selected arm's mean lies between the worst (0%) and the best (100%); 0 if they are equal."""
    worst, best = means.min(axis=1), means.max(axis=1)
    way = best - worst
    gained = means[np.arange(len(selected)), selected] - worst
    ideal: Floats = np.divide(100.0 * gained, way, out=np.zeros_like(way), where=way > SAME)
    return ideal


def _estimates(outcomes: TrialOutcomes, means: Floats, truth: Truth) -> Floats:
    """Return the five numbers of `_errors` for every estimate, [run, method, view, arm, number]."""
    other = truth.compared_with
    chosen = means - means[:, [other]]
    effects = np.stack(np.broadcast_arrays(chosen, truth.effects[None, :, 1]), axis=2)  # [1 or run, arm, view]
    naive = (
        naive_estimates.intention_to_treat(outcomes, other, effects[:, :, 0]),
        naive_estimates.compliers(outcomes, other, effects[:, :, 1]),
    )
    any_time = tuple(
        Estimates(
            outcomes.estimate[:, :, view], ~np.isnan(outcomes.covers[:, :, view]), outcomes.covers[:, :, view] == 1
        )
        for view in range(effects.shape[2])
    )
    methods = [
        np.stack([_errors(one, effects[:, :, view], other) for view, one in enumerate(method)], axis=1)
        for method in (naive, any_time)
    ]
    return np.stack(methods, axis=1)


def _errors(found: Estimates, effects: Floats, other: int) -> Floats:
    """Return five numbers: estimate exists, error, squared error, interval exists, interval covers the truth."""
    error = found.estimate - effects
    is_known = ~np.isnan(np.broadcast_to(effects, error.shape))
    is_known[:, other] = False
    has_estimate, has_interval = is_known & ~np.isnan(error), is_known & found.has_interval
    error = np.where(has_estimate, error, 0.0)
    return np.stack([has_estimate, error, error**2, has_interval, has_interval & found.covers], axis=2).astype(float)


@dataclass(frozen=True, eq=False)
class Distributions(EqualArrays):
    """Distributions over trials of the number of patients (`sizes[n]` trials have n), duration and surplus.

    Duration and surplus are exact as long as they have few distinct values.
    """

    sizes: Ints
    days: Spread
    surplus: Spread

    @staticmethod
    def of(outcomes: TrialOutcomes, rows: Floats, columns: Columns, max_patients: int) -> Distributions:
        """Return the distributions of a block of trials, given its outcomes and its rows of measures."""
        return Distributions(
            np.bincount(outcomes.n_patients, minlength=max_patients + 1),
            Spread.of(outcomes.days),
            Spread.of(rows[:, columns.where("surplus")]),
        )

    def merge(self, other: Distributions) -> Distributions:
        """Merge the distributions of two blocks."""
        return Distributions(self.sizes + other.sizes, self.days.merge(other.days), self.surplus.merge(other.surplus))
