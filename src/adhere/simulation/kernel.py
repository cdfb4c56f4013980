"""The loop over patients, compiled once for each composition of policies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import Kernel, helper
from adhere.policies.generic import choose, decider, remember, update
from adhere.randomness import CHOOSE, LEARN, PATIENT, point, uniform

# How many patients pass between two looks at whether to stop.
_LOOK_EVERY = 1024
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
def draw_cell(cumulative: Any, rng: Any) -> int:
    """The first cell whose cumulative probability exceeds a uniform number; the number of cells is 2^n."""
    u = uniform(rng)
    cell, step = 0, cumulative.size >> 1
    while step > 0:
        if u >= cumulative[cell + step - 1]:
            cell += step
        step >>= 1
    return cell


@helper
def meet_patient(patients: Any, table: Any, chosen: int, rng: Any) -> Any:
    """Actual arm and reward of the next counterfactual patient, and the mean of its rewards over arms."""
    n_arms = patients.actual.shape[0]
    total = 0.0
    if table.shape[0] == 1:
        cell = draw_cell(table[0], rng)
        for arm in range(n_arms):
            total += patients.reward[arm, cell]
        return patients.actual[chosen, cell], patients.reward[chosen, cell], total / n_arms
    actual, reward = 0, 0.0
    for arm in range(n_arms):
        cell = draw_cell(table[arm], rng)
        total += patients.reward[arm, cell]
        if arm == chosen:
            actual, reward = patients.actual[arm, cell], patients.reward[arm, cell]
    return actual, reward, total / n_arms


def run_block(
    rule: Any, initial: Any, state: Any, memo: Any, rng: Any, pulls: Any, keys: Any, patients: Any,
    n_patients: int, grid: Any, n_last: int, tallies: Any, progress: Any, stop: Any,
) -> int:  # fmt: skip
    """Run one trial for each row of keys; returns `NO_FAULT`, or an arm that does not exist if one is chosen.

    `progress[0]` counts patients; a non-zero `stop[0]` ends it.
    """
    for run in range(keys.shape[0]):
        for i in range(initial.size):
            state[i] = initial[i]
        for arm in range(pulls.size):
            pulls[arm] = 0
        rng[0], rng[1] = keys[run, 0], keys[run, 1]
        table = patients.cumulative[run if patients.cumulative.shape[0] > 1 else 0]
        total_reward, total_baseline, mark = 0.0, 0.0, 0
        for t in range(n_patients):
            if t % _LOOK_EVERY == 0:
                if stop[0] != 0:
                    return NO_FAULT
                progress[0] += _LOOK_EVERY if t + _LOOK_EVERY < n_patients else n_patients - t
            point(rng, t, CHOOSE)
            remember(rule, state, memo)
            chosen = choose(rule, state, memo, 1.0, rng)
            if chosen < 0 or chosen >= pulls.size:
                return chosen
            point(rng, t, PATIENT)
            actual, reward, baseline = meet_patient(patients, table, chosen, rng)
            point(rng, t, LEARN)
            update(rule, state, memo, chosen, actual, reward, 1.0, rng)
            pulls[chosen] += 1
            tallies.decisions[run, decider(rule, memo)] += 1
            total_reward += reward
            total_baseline += baseline
            if t >= n_patients - n_last:
                tallies.last_pulls[run, chosen] += 1
            if t + 1 == grid[mark]:
                for arm in range(pulls.size):
                    tallies.pulls[run, mark, arm] = pulls[arm]
                tallies.rewards[run, mark] = total_reward
                tallies.baselines[run, mark] = total_baseline
                mark += 1
    return NO_FAULT


RUN_BLOCK = Kernel(run_block)
