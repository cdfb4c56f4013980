"""The loop over patients, compiled once for each composition of policies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import Kernel, helper
from adhere.policies.generic import choose, decider, remember, update
from adhere.randomness import CHOOSE, LEARN, PATIENT, number_at, point

# How many patients are drawn together, and pass between two looks at whether to stop.
TOGETHER = 1024
NO_FAULT = -(2**62)


class Tallies(NamedTuple):
    """What a block of runs leaves behind, by run and, where it says so, by point of the grid."""

    pulls: NDArray[np.int64]  # [run, grid, arm] recommendations so far
    rewards: NDArray[np.float64]  # [run, grid] rewards so far
    baselines: NDArray[np.float64]  # [run, grid] mean over arms of the same patients' rewards so far
    decisions: NDArray[np.int64]  # [run, decider]
    last_pulls: NDArray[np.int64]  # [run, arm] recommendations among the last patients

    @staticmethod
    def zeros(n_runs: int, n_grid: int, n_arms: int, n_deciders: int) -> Tallies:
        """Tallies to be filled."""
        return Tallies(
            np.zeros((n_runs, n_grid, n_arms), np.int64),
            np.zeros((n_runs, n_grid)),
            np.zeros((n_runs, n_grid)),
            np.zeros((n_runs, n_deciders), np.int64),
            np.zeros((n_runs, n_arms), np.int64),
        )


class Patients(NamedTuple):
    """How patients are drawn (`populations.PatientTables`, as compiled code takes it)."""

    cumulative: Any
    actual: Any
    reward: Any


@helper
def draw_patients(patients: Any, table: Any, first: int, n: int, numbers: Any, cells: Any, rng: Any) -> None:
    """The cells in which the draws of the next n patients land, by draw and patient; their mean rewards over arms.

    A loop for each step, over many patients at once, so that the compiler can take several in one instruction.
    """
    outer, middle = rng[0], rng[1]
    for draw in range(table.shape[0]):
        for i in range(n):
            numbers[i] = number_at(outer, middle, first + i, PATIENT, draw)
        for i in range(n):
            cells[draw, i] = 0
        for boundary in range(table.shape[1] - 1):
            bound = table[draw, boundary]
            for i in range(n):
                cells[draw, i] += numbers[i] >= bound
    for i in range(n):
        numbers[i] = 0.0
    for arm in range(patients.reward.shape[0]):
        draw = arm if table.shape[0] > 1 else 0
        for i in range(n):
            numbers[i] += patients.reward[arm, cells[draw, i]]
    for i in range(n):
        numbers[i] /= patients.reward.shape[0]


def run_block(
    rule: Any, initial: Any, state: Any, memo: Any, rng: Any, pulls: Any, numbers: Any, cells: Any, keys: Any,
    patients: Any, n_patients: int, grid: Any, n_last: int, tallies: Any, progress: Any, stop: Any,
) -> int:  # fmt: skip
    """Run one trial for each row of keys; returns `NO_FAULT`, or an arm that does not exist if one is chosen.

    `progress[0]` counts patients; a non-zero `stop[0]` ends it.
    """
    n_arms, n_draws = pulls.size, patients.cumulative.shape[1]
    for run in range(keys.shape[0]):
        for i in range(initial.size):
            state[i] = initial[i]
        for arm in range(n_arms):
            pulls[arm] = 0
        rng[0], rng[1] = keys[run, 0], keys[run, 1]
        table = patients.cumulative[run if patients.cumulative.shape[0] > 1 else 0]
        total_reward, total_baseline, mark = 0.0, 0.0, 0
        for first in range(0, n_patients, TOGETHER):
            n = n_patients - first if n_patients - first < TOGETHER else TOGETHER
            if stop[0] != 0:
                return NO_FAULT
            draw_patients(patients, table, first, n, numbers, cells, rng)
            for i in range(n):
                t = first + i
                point(rng, t, CHOOSE)
                remember(rule, state, memo)
                chosen = choose(rule, state, memo, 1.0, rng)
                if chosen < 0 or chosen >= n_arms:
                    return chosen
                cell = cells[chosen if n_draws > 1 else 0, i]
                actual, reward = patients.actual[chosen, cell], patients.reward[chosen, cell]
                point(rng, t, LEARN)
                update(rule, state, memo, chosen, actual, reward, 1.0, rng)
                pulls[chosen] += 1
                tallies.decisions[run, decider(rule, memo)] += 1
                total_reward += reward
                total_baseline += numbers[i]
                if t >= n_patients - n_last:
                    tallies.last_pulls[run, chosen] += 1
                if t + 1 == grid[mark]:
                    for arm in range(n_arms):
                        tallies.pulls[run, mark, arm] = pulls[arm]
                    tallies.rewards[run, mark] = total_reward
                    tallies.baselines[run, mark] = total_baseline
                    mark += 1
            progress[0] += n
    return NO_FAULT


RUN_BLOCK = Kernel(run_block)
