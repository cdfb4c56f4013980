"""From what a block of runs left behind to the quantities whose means are reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adhere.simulation.kernel import Tallies

Floats = NDArray[np.float64]
MEASURES = ("surplus", "realised_surplus", "reward", "regret")
SHARES = ("worse_than_randomisation", "favours_best_arm")
LARGEST_LAST_PART = 100
_ORDER_MATTERS = 8
_ROUNDING = 1e-12  # of a reward, for each patient: a surplus this small is none


def n_last(n_patients: int) -> int:
    """How many recommendations count as the last: a tenth of the trial, at least 1 and at most 100."""
    return max(1, min(LARGEST_LAST_PART, n_patients // 10))


@dataclass(frozen=True)
class Columns:
    """Where each quantity of one policy on one population stands in a row of numbers, one row for each run.

    Measures and their differences from the reference policy, by point of the grid; the share of each arm
    among recommendations, by arm and point; the share of decisions of each part of a hybrid; two shares of
    runs.
    """

    n_grid: int
    n_arms: int
    n_deciders: int

    @property
    def _first_allocation(self) -> int:
        return 2 * len(MEASURES) * self.n_grid

    @property
    def _first_decider(self) -> int:
        return self._first_allocation + self.n_arms * self.n_grid

    def measure(self, name: str, point: int = -1, difference: bool = False) -> int:
        """A measure, or its difference from the reference policy's, at a point of the grid."""
        row = MEASURES.index(name) + (len(MEASURES) if difference else 0)
        return row * self.n_grid + point % self.n_grid

    def allocation(self, arm: int, point: int = -1) -> int:
        """An arm's share of the recommendations up to a point of the grid."""
        return self._first_allocation + arm * self.n_grid + point % self.n_grid

    def over_grid(self, last: int) -> slice:
        """The columns of one quantity at all points of the grid, from the column of the last point."""
        return slice(last + 1 - self.n_grid, last + 1)

    def decider(self, index: int) -> int:
        """The share of decisions one part of a hybrid made."""
        return self._first_decider + index

    def share(self, name: str) -> int:
        """Whether a run counts towards a share of runs."""
        return self._first_decider + self.n_deciders + SHARES.index(name)

    @property
    def size(self) -> int:
        """How many quantities there are."""
        return self._first_decider + self.n_deciders + len(SHARES)


def measures(tallies: Tallies, means: Floats) -> list[Floats]:
    """Surplus, realised surplus, reward and regret, each [run, grid]; `means` is [1 or run, arm]."""
    baseline = means.mean(axis=1, keepdims=True)
    best = means.max(axis=1, keepdims=True)
    surplus = _sum_over_arms(tallies.pulls, means - baseline)
    regret = _sum_over_arms(tallies.pulls, best - means)
    return [surplus, tallies.rewards - tallies.baselines, tallies.rewards, regret]


def _sum_over_arms(pulls: NDArray[np.int64], each: Floats) -> Floats:
    """Σ_j pulls_j · each_j. NumPy's sum is slow over so short an axis; from eight on it adds in another order."""
    if pulls.shape[2] >= _ORDER_MATTERS:
        summed: Floats = (pulls * each[:, None, :]).sum(axis=2)
        return summed
    total: Floats = pulls[:, :, 0] * each[:, :1]
    for arm in range(1, pulls.shape[2]):
        total += pulls[:, :, arm] * each[:, arm : arm + 1]
    return total


def rows_of_policies(tallies: Sequence[Tallies], means: Floats, grid: Floats, reference: int) -> list[Floats]:
    """One matrix for each policy, a row for each run and a column for each of `Columns`."""
    measured = [measures(one, means) for one in tallies]
    best_arms = means == means.max(axis=1, keepdims=True)
    return [
        _matrix(one, own, None if index == reference else measured[reference], grid, best_arms)
        for index, (one, own) in enumerate(zip(tallies, measured, strict=True))
    ]


def _matrix(
    tallies: Tallies, own: list[Floats], others: list[Floats] | None, grid: Floats, best_arms: NDArray[np.bool_]
) -> Floats:
    n_runs, n_grid, n_arms = tallies.pulls.shape
    columns = Columns(n_grid, n_arms, tallies.decisions.shape[1])
    matrix = np.zeros((n_runs, columns.size))
    for name, mine in zip(MEASURES, own, strict=True):
        matrix[:, columns.over_grid(columns.measure(name))] = mine
    if others is not None:
        for name, mine, theirs in zip(MEASURES, own, others, strict=True):
            np.subtract(mine, theirs, out=matrix[:, columns.over_grid(columns.measure(name, difference=True))])
    for arm in range(n_arms):
        np.divide(tallies.pulls[:, :, arm], grid, out=matrix[:, columns.over_grid(columns.allocation(arm))])
    first, last = columns.decider(0), columns.decider(columns.n_deciders)
    np.divide(tallies.decisions, grid[-1], out=matrix[:, first:last])
    matrix[:, columns.share("worse_than_randomisation")] = own[0][:, -1] < -_ROUNDING * grid[-1]
    most_last = tallies.last_pulls == tallies.last_pulls.max(axis=1, keepdims=True)
    # Favoured: only best arms lead among the last recommendations.
    matrix[:, columns.share("favours_best_arm")] = ~(most_last & ~best_arms).any(axis=1)
    return matrix


def pooled_rows(matrices: Sequence[Floats], n_grid: int) -> Floats:
    """One policy on several populations, averaged run by run: measures and differences, then the shares of runs.

    Run r of every population has the same random numbers, so only the runs' own averages show their true spread.
    """
    n_measures = 2 * len(MEASURES) * n_grid
    average: Floats = np.mean([matrix[:, :n_measures] for matrix in matrices], axis=0)
    favours: Floats = np.mean([matrix[:, -1:] for matrix in matrices], axis=0)
    worse = average[:, n_grid - 1 : n_grid] < 0.0
    return np.hstack([average, worse, favours])
