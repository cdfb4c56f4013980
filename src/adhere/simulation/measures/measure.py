"""Compute from the tallies of a block of runs the quantities whose means are reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.errors import InputError

Floats = NDArray[np.float64]
MEASURES = ("surplus", "realised_surplus", "reward", "regret")
SHARES = ("worse_than_randomisation", "favours_best_arm")
LARGEST_LAST_PART = 100
_ORDER_MATTERS = 8
_ROUNDING = 1e-12  # in rewards per patient: a smaller surplus counts as 0
SURPLUSES = slice(2)  # columns of the measures


class Tallies(NamedTuple):
    """Totals of a block of runs, by run and, where indicated, by grid point."""

    pulls: NDArray[np.int64]  # [run, grid, arm] recommendations so far
    rewards: NDArray[np.float64]  # [run, grid] rewards so far
    baselines: NDArray[np.float64]  # [run, grid] mean over arms of the same patients' rewards so far
    decisions: NDArray[np.int64]  # [run, component]
    last_pulls: NDArray[np.int64]  # [run, arm] recommendations among the last patients

    @staticmethod
    def zeros(n_runs: int, n_grid: int, n_arms: int, n_deciders: int) -> Tallies:
        """Return empty tallies to be filled in."""
        return Tallies(
            np.zeros((n_runs, n_grid, n_arms), np.int64),
            np.zeros((n_runs, n_grid)),
            np.zeros((n_runs, n_grid)),
            np.zeros((n_runs, n_deciders), np.int64),
            np.zeros((n_runs, n_arms), np.int64),
        )


def n_last(n_patients: int) -> int:
    """Return how many recommendations count as the last: a tenth of the trial, at least 1 and at most 100."""
    return max(1, min(LARGEST_LAST_PART, n_patients // 10))


@dataclass(frozen=True)
class Columns:
    """Indices of the columns for one policy on one population, in a matrix with a row for each run.

    A row contains, in this order:

    - measures, and their differences from the reference policy, by grid point
    - each arm's share of the recommendations, by arm and grid point
    - each component's share of the decisions of a hybrid
    - two shares of runs
    """

    n_grid: int
    n_arms: int

    def measure(self, name: str, difference: bool = False) -> slice:
        """Return the columns of a measure along the grid, or of its difference from the reference policy's."""
        if name not in MEASURES:
            raise InputError("measure", name, f"one of {', '.join(MEASURES)}")
        return self._along_grid(MEASURES.index(name) + len(MEASURES) * difference)

    def allocation(self, arm: int) -> slice:
        """Return the columns of an arm's share of the recommendations up to each grid point."""
        return self._along_grid(2 * len(MEASURES) + arm)

    def _along_grid(self, quantity: int) -> slice:
        return slice(quantity * self.n_grid, (quantity + 1) * self.n_grid)

    def component(self, index: int) -> int:
        """Return the column of a component's share of the decisions."""
        return (2 * len(MEASURES) + self.n_arms) * self.n_grid + index

    def final(self) -> list[int]:
        """Return the columns of each run's final values: the measures, and the arms' shares."""
        along = [*map(self.measure, MEASURES), *map(self.allocation, range(self.n_arms))]
        return [where.stop - 1 for where in along]

    def allocations(self) -> list[int]:
        """Return the columns of each arm's share of the recommendations at every grid point, arm by arm."""
        return [column for arm in range(self.n_arms) for column in range(*self.allocation(arm).indices(2**62))]

    def share(self, name: str) -> int:
        """Return the index, counted from the end, of the column that says whether a run counts towards a share."""
        return SHARES.index(name) - len(SHARES)


def measures(tallies: Tallies, means: Floats) -> list[Floats]:
    """Return surplus, realised surplus, reward and regret, each [run, grid]; `means` is [1 or run, arm]."""
    baseline = means.mean(axis=1, keepdims=True)
    best = means.max(axis=1, keepdims=True)
    surplus = _sum_over_arms(tallies.pulls, means - baseline)
    regret = _sum_over_arms(tallies.pulls, best - means)
    return [surplus, tallies.rewards - tallies.baselines, tallies.rewards, regret]


def _sum_over_arms(pulls: NDArray[np.int64], each: Floats) -> Floats:
    """Return Σ_j pulls_j · each_j. NumPy's sum is slow on so short an axis, and adds many arms in another order."""
    if pulls.shape[2] >= _ORDER_MATTERS:
        summed: Floats = (pulls * each[:, None, :]).sum(axis=2)
        return summed
    total: Floats = pulls[:, :, 0] * each[:, :1]
    for arm in range(1, pulls.shape[2]):
        total += pulls[:, :, arm] * each[:, arm : arm + 1]
    return total


def without_rounding(surplus: Floats, n_patients: float) -> Floats:
    """Return the surpluses of runs, with those within rounding error of zero set to 0.

    It is used wherever single runs matter: for shares, quantiles and stored runs. Means do not need it.
    """
    return np.where(np.abs(surplus) <= _ROUNDING * n_patients, 0.0, surplus)


def rows_of_policies(tallies: Sequence[Tallies], means: Floats, grid: Floats, reference: int) -> list[Floats]:
    """Return one matrix for each policy, with a row for each run and a column for each of `Columns`."""
    measured = [measures(one, means) for one in tallies]
    best_arms = means == means.max(axis=1, keepdims=True)
    return [
        _matrix(one, own, measured[reference], grid, best_arms) for one, own in zip(tallies, measured, strict=True)
    ]


def _matrix(
    tallies: Tallies, own: list[Floats], others: list[Floats], grid: Floats, best_arms: NDArray[np.bool_]
) -> Floats:
    n_runs, n_grid, n_arms = tallies.pulls.shape
    columns = Columns(n_grid, n_arms)
    matrix = np.zeros((n_runs, columns.component(tallies.decisions.shape[1]) + len(SHARES)))
    for name, mine, theirs in zip(MEASURES, own, others, strict=True):
        matrix[:, columns.measure(name)] = mine
        if theirs is not mine:
            np.subtract(mine, theirs, out=matrix[:, columns.measure(name, difference=True)])
    for arm in range(n_arms):
        np.divide(tallies.pulls[:, :, arm], grid, out=matrix[:, columns.allocation(arm)])
    np.divide(tallies.decisions, grid[-1], out=matrix[:, columns.component(0) : -len(SHARES)])
    matrix[:, columns.share("worse_than_randomisation")] = without_rounding(own[0][:, -1], grid[-1]) < 0.0
    most_last = tallies.last_pulls == tallies.last_pulls.max(axis=1, keepdims=True)
    # A best arm is favoured if only best arms lead among the last recommendations.
    matrix[:, columns.share("favours_best_arm")] = ~(most_last & ~best_arms).any(axis=1)
    return matrix


def pooled_rows(matrices: Sequence[Floats], n_grid: int, n_patients: int) -> Floats:
    """Return the rows of one policy averaged over populations: measures and differences, then the shares of runs.

    Run r uses the same random numbers in every population, so only averages within each run show the true spread.
    """
    n_measures = 2 * len(MEASURES) * n_grid
    average: Floats = np.mean([matrix[:, :n_measures] for matrix in matrices], axis=0)
    favours: Floats = np.mean([matrix[:, -1:] for matrix in matrices], axis=0)
    worse = without_rounding(average[:, n_grid - 1 : n_grid], n_patients) < 0.0
    return np.hstack([average, worse, favours])
