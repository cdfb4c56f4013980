"""Measure a policy in a cell, first in each population and then over populations."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adhere.intervals import Z95, t95
from adhere.populations.population import Floats
from adhere.studies.arena.cells import MeanRewards
from adhere.studies.arena.play import Played

WORST_SHARE = 0.05
MIN_RUNS_FOR_A_VERDICT = 8  # per population: fewer runs cannot show that a policy is worse than randomisation
GROWTH_FROM = 10  # the growth of regret is measured from a tenth of the horizon
Interval = tuple[float | None, float | None, float | None]  # mean, low, high


@dataclass(frozen=True, eq=False)
class ByUnit:
    """A policy's figures in each unit, in all runs and in each half of them.

    Attributes
    ----------
    grid
        float64[grid], the numbers of patients at which regret is recorded.
    share
        float64[unit], surplus as a share of the best possible surplus.
    half_shares
        float64[half, unit], the same in each half of the runs.
    surplus
        float64[unit], the final surplus.
    regret
        float64[unit, grid], reward lost so far compared with the best recommendation.
    half_regrets
        float64[half, unit, grid], the same in each half of the runs.
    treatment_regret, complier_regret
        float64[unit], regret per patient at the end: compared with the best treatment for everybody, and among
        compliers
        compared with the best treatment for compliers.

    """

    grid: Floats
    share: Floats
    half_shares: Floats
    surplus: Floats
    regret: Floats
    half_regrets: Floats
    treatment_regret: Floats
    complier_regret: Floats


def by_unit(played: Played, truth: MeanRewards) -> ByUnit:
    """Compute a policy's figures from the arms it recommended and their true mean rewards."""
    means = truth.recommendation
    best, base = means.max(axis=1), means.mean(axis=1)
    every = np.concatenate([played.share[None], played.shares])  # [all, first half, second half]
    earned = np.einsum("hugc,uc->hug", every, means)  # per patient, up to a point of the grid
    regret = played.grid * (best[:, None] - earned)
    share = (earned[:, :, -1] - base) / np.where(best > base, best - base, np.inf)
    of_compliers = np.einsum("uc,uc->u", played.share[:, -1], truth.compliers)
    return ByUnit(
        grid=played.grid,
        share=share[0],
        half_shares=share[1:],
        surplus=played.grid[-1] * (earned[0, :, -1] - base),
        regret=regret[0],
        half_regrets=regret[1:],
        treatment_regret=truth.treatment.max(axis=1) - earned[0, :, -1],
        complier_regret=truth.compliers.max(axis=1) - of_compliers,
    )


def interval(values: Floats) -> Interval:
    """Return the mean over units with Student's 95% interval. Units with NaN are left out.

    >>> [round(number, 2) for number in interval(np.array([1.0, 2.0, 3.0, np.nan]))]
    [2.0, -0.48, 4.48]
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None, None
    mean = float(known.mean())
    if len(known) < 2:
        return mean, None, None
    half = _t95(len(known) - 1) * float(known.std(ddof=1)) / math.sqrt(len(known))
    return mean, mean - half, mean + half


_t95 = cache(t95)


def worst(values: Floats) -> NDArray[np.intp]:
    """Return the indices of the units with the lowest 5% of values.

    >>> worst(np.array([3.0, 1.0, 2.0])).tolist()
    [1]
    """
    return np.argsort(values, kind="stable")[: max(1, round(WORST_SHARE * len(values)))]


def worst_mean(differences: Floats) -> float:
    """Return the mean of the worst 5%. With few runs it includes bad luck."""
    return float(differences[worst(differences)].mean())


def held_out_worst_mean(halves: Floats) -> float | None:
    """Return the mean of the worst 5%, chosen in one half of the runs and measured in the other, averaged both
    ways.
    """
    if len(halves) < 2:
        return None
    first, second = halves
    return float((second[worst(first)].mean() + first[worst(second)].mean()) / 2)


def growth_of_worst(regrets: Floats, grid: Floats) -> float | None:
    """Return the power with which regret grows in the worst 5% of populations: 1 is linear, 0 is no growth.

    It is log(R(T) / R(T/10)) / log(10). The populations are chosen by R(T) in one half of the runs, and R is measured
    in the other. `regrets` are [half, unit, grid].
    """
    start = np.flatnonzero(grid == grid[-1] / GROWTH_FROM)
    if not len(start) or len(regrets) < 2:
        return None
    first, second = regrets
    chosen = [second[worst(-first[:, -1])], first[worst(-second[:, -1])]]
    ends = np.concatenate(chosen)[:, [start[0], -1]].mean(axis=0)
    return float(math.log(ends[1] / ends[0]) / math.log(GROWTH_FROM)) if ends.min() > 0 else None


def worse_than_random(played: Played, truth: MeanRewards, surplus: Floats) -> tuple[float, float | None]:
    """Return the shares of populations with a negative mean surplus, and with a surely negative one.

    A population's surplus is surely negative if the upper end of its own 95% interval, over its runs, is below 0. The
    second share is None if there are too few runs.
    """
    per_patient = surplus / played.grid[-1]
    error = played.spread / math.sqrt(played.n_runs)
    n_runs = played.n_runs
    if truth.n_populations == 1:
        n_units = len(per_patient)
        n_runs, error = n_runs * n_units, np.array([per_patient.std(ddof=1) / math.sqrt(n_units)])
        per_patient = per_patient.mean(keepdims=True)
    negative = per_patient < -1e-12  # where all arms are equal, rounding is no loss
    surely = negative & (per_patient + Z95 * error < 0)
    return float(negative.mean()), float(surely.mean()) if n_runs >= MIN_RUNS_FOR_A_VERDICT else None
