"""The loop over patients, compiled once for each composition of policies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import Kernel, memo_of, state_of
from adhere.compilation.local import clear_floats, copy_into, local_floats, local_integers, local_words, room_for
from adhere.compilation.static import MAX_STATIC_ARMS
from adhere.policies.base.generic import choose, decider, note_allocation, remember, update
from adhere.randomness import CHOOSE, LEARN, STREAM_SIZE, point, point_with, set_keys
from adhere.simulation.kernels.cell_search import fill_guide
from adhere.simulation.kernels.patients import (
    BATCH_SIZE,
    Arms,
    Batch,
    BatchOfManyArms,
    Patients,
    draw_patients,
    patient_at,
)

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

    def of_runs(self, runs: slice) -> Tallies:
        """Those of some runs."""
        return Tallies._make(one[runs] for one in self)


class Room(NamedTuple):
    """What the loop works in: the batch of patients, and arrays that are too large to be its own."""

    batch: Any
    state: Any
    memo: Any
    pulls: Any
    decisions: Any

    @staticmethod
    def of(sizes: Sizes, patients: Patients) -> Room:
        """Room for one thread."""
        n_arms = sizes.arms.number
        many_arms = n_arms > MAX_STATIC_ARMS
        return Room(
            (BatchOfManyArms if many_arms else Batch).of(n_arms, patients.bounds),
            room_for(sizes.state, np.float64, many_arms),
            room_for(sizes.memo, np.float64, many_arms),
            room_for(n_arms, np.int64, many_arms),
            room_for(sizes.deciders, np.int64, many_arms),
        )


class Sizes(NamedTuple):
    """Lengths that are known when the loop is compiled, unless there are many arms."""

    state: int
    memo: int
    deciders: int
    arms: Arms


def run_block(
    rule: Any, sizes: Any, initial: Any, keys: Any, patients: Any, n_patients: int, grid: Any, n_last: int,
    tallies: Any, room: Any, done: Any, stop: Any,
) -> int:  # fmt: skip
    """Run one trial for each row of keys; returns `NO_FAULT`, or an arm that does not exist if one is chosen.

    `done[0]` counts patients; a non-zero `stop[0]` ends it.
    """
    n_arms, before_last, batch = sizes.arms.number, n_patients - n_last, room.batch
    floats, memo_floats = local_floats(sizes.state, room.state), local_floats(sizes.memo, room.memo)
    state, memo = state_of(rule, floats), memo_of(rule, memo_floats)
    rng = local_words(STREAM_SIZE, keys[0])
    pulls, decisions = local_integers(sizes.arms.number, room.pulls), local_integers(sizes.deciders, room.decisions)
    for run in range(keys.shape[0]):
        copy_into(floats, initial, sizes.state)
        clear_floats(memo_floats, sizes.memo)
        for arm in range(n_arms):
            pulls[arm] = 0
        for part in range(sizes.deciders):
            decisions[part] = 0
        set_keys(rng, keys[run, 0], keys[run, 1])
        bounds = patients.bounds[run if patients.bounds.shape[0] > 1 else 0]
        if run == 0 or patients.bounds.shape[0] > 1:
            fill_guide(bounds, batch.guide)
        total_reward, total_baseline, mark, t = 0.0, 0.0, 0, 0
        for first in range(0, n_patients, BATCH_SIZE):
            end = n_patients if n_patients - first < BATCH_SIZE else first + BATCH_SIZE
            if stop[0] != 0:
                return NO_FAULT
            draw_patients(batch, sizes.arms, patients, bounds, first, end - first, rng)
            while t < end:
                # Up to the next point where something is noted; in between there is nothing to look out for.
                until = grid[mark] if grid[mark] < end else end
                until = before_last if t < before_last < until else until
                while t < until:
                    i = np.uint64(t - first)  # unsigned: a signed index might count from the end
                    point_with(rng, t, CHOOSE, batch.words[i])
                    remember(rule, state, memo)
                    chosen = choose(rule, state, memo, 1.0, rng)
                    if chosen < 0 or chosen >= n_arms:
                        return chosen
                    note_allocation(rule, state, chosen, rng)
                    actual, reward = patient_at(batch, patients, i, chosen)
                    point(rng, t, LEARN)
                    update(rule, state, memo, chosen, actual, reward, 1.0, rng)
                    pulls[chosen] += 1
                    decisions[decider(rule, memo)] += 1
                    total_reward += reward
                    total_baseline += batch.baseline[i]
                    t += 1
                if t == before_last:
                    for arm in range(n_arms):
                        tallies.last_pulls[run, arm] = -pulls[arm]
                if t == grid[mark]:
                    for arm in range(n_arms):
                        tallies.pulls[run, mark, arm] = pulls[arm]
                    tallies.rewards[run, mark] = total_reward
                    tallies.baselines[run, mark] = total_baseline
                    mark += 1
            done[0] += end - first
        for arm in range(n_arms):
            tallies.last_pulls[run, arm] += pulls[arm]
        for part in range(sizes.deciders):
            tallies.decisions[run, part] = decisions[part]
    return NO_FAULT


RUN_BLOCK = Kernel(run_block, static=True)
