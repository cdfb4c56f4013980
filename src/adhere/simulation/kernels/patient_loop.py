"""The loop over patients, compiled once for each composition of policies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import Kernel, memo_of, state_of
from adhere.compilation.intrinsics import (
    buffer_for,
    clear_floats,
    copy_into,
    local_floats,
    local_integers,
    local_words,
)
from adhere.policies.base.generic import choose, component, note_allocation, remember, update
from adhere.randomness import LEARN, STREAM_SIZE, point, set_keys
from adhere.simulation.kernels import NO_FAULT
from adhere.simulation.kernels.patients import (
    BATCH_SIZE,
    Arms,
    Batch,
    BatchOfManyArms,
    OneByOne,
    bounds_of_run,
    complete_counts,
    count_one,
    draw_patients,
    patient_at,
    point_to_choice,
)


class Workspace(NamedTuple):
    """Workspace of the loop: the batch of patients, and arrays that are too large for local memory."""

    batch: Any
    state: Any
    memo: Any
    pulls: Any
    decisions: Any
    bounds: Any

    @staticmethod
    def of(batch: Batch | BatchOfManyArms | OneByOne, sizes: Sizes) -> Workspace:
        """Return the workspace of one thread around a batch. For a GPU's threads the batch contains no patients."""
        many_arms = isinstance(batch, BatchOfManyArms)
        return Workspace(
            batch,
            buffer_for(sizes.state, np.float64, many_arms),
            buffer_for(sizes.memo, np.float64, many_arms),
            buffer_for(sizes.arms.number, np.int64, many_arms),
            buffer_for(sizes.components, np.int64, many_arms),
            buffer_for(sizes.bounds, np.float64, many_arms),
        )


class Sizes(NamedTuple):
    """Lengths that are known when the loop is compiled, unless there are many arms."""

    state: int
    memo: int
    components: int
    bounds: int  # number of cell bounds, if a GPU's thread keeps them in registers
    arms: Arms


def run_block(
    rule: Any, sizes: Any, initial: Any, keys: Any, patients: Any, n_patients: int, grid: Any, n_last: int,
    tallies: Any, workspace: Any, done: Any, stop: Any, lane: Any, n_lanes: Any,
) -> int:  # fmt: skip
    """Run the trials of one of several lanes. Return `NO_FAULT`, or an arm that was chosen but does not exist.

    There is one trial for each row of keys. `done[lane]` counts patients; a non-zero `stop[0]` ends the loop.
    """
    n_arms, before_last, batch = sizes.arms.number, n_patients - n_last, workspace.batch
    floats, memo_floats = local_floats(sizes.state, workspace.state), local_floats(sizes.memo, workspace.memo)
    state, memo = state_of(rule, floats), memo_of(rule, memo_floats)
    rng = local_words(STREAM_SIZE, keys[0])
    pulls = local_integers(sizes.arms.number, workspace.pulls)
    decisions = local_integers(sizes.components, workspace.decisions)
    own_bounds = local_floats(sizes.bounds, workspace.bounds)
    for run in range(lane, keys.shape[0], n_lanes):
        copy_into(floats, initial, sizes.state)
        clear_floats(memo_floats, sizes.memo)
        for arm in range(n_arms):
            pulls[arm], tallies.last_pulls[run, arm] = 0, 0
        for part in range(sizes.components):
            decisions[part] = 0
        set_keys(rng, keys[run, 0], keys[run, 1])
        bounds = bounds_of_run(batch, patients, run, own_bounds).steps
        total_reward, total_baseline, mark, t = 0.0, 0.0, 0, 0
        for first in range(0, n_patients, BATCH_SIZE):
            end = n_patients if n_patients - first < BATCH_SIZE else first + BATCH_SIZE
            if stop[0] != 0:
                return NO_FAULT
            draw_patients(batch, sizes.arms, patients, bounds, first, end - first, rng)
            while t < end:
                # Up to the next point where something is recorded; the loop below needs no checks.
                until = grid[mark] if grid[mark] < end else end
                until = before_last if t < before_last < until else until
                while t < until:
                    i = np.uint64(t - first)  # unsigned, since a signed index might count from the end
                    point_to_choice(batch, rng, t, i)
                    remember(rule, state, memo)
                    chosen = choose(rule, state, memo, 1.0, rng)
                    if chosen < 0 or chosen >= n_arms:
                        return chosen
                    note_allocation(rule, state, chosen, rng)
                    actual, reward, baseline = patient_at(batch, sizes.arms, patients, bounds, t, i, chosen, rng)
                    point(rng, t, LEARN)
                    update(rule, state, memo, chosen, actual, reward, 1.0, rng)
                    count_one(batch, pulls, n_arms, chosen)
                    count_one(batch, decisions, sizes.components, component(rule, memo))
                    total_reward += reward
                    total_baseline += baseline
                    t += 1
                complete_counts(batch, pulls, n_arms, t)
                if t == before_last:
                    for arm in range(n_arms):
                        tallies.last_pulls[run, arm] = -pulls[arm]
                if t == grid[mark]:
                    for arm in range(n_arms):
                        tallies.pulls[run, mark, arm] = pulls[arm]
                    tallies.rewards[run, mark] = total_reward
                    tallies.baselines[run, mark] = total_baseline
                    mark += 1
            done[lane] += end - first
        for arm in range(n_arms):
            tallies.last_pulls[run, arm] += pulls[arm]
        complete_counts(batch, decisions, sizes.components, n_patients)
        for part in range(sizes.components):
            tallies.decisions[run, part] = decisions[part]
    return NO_FAULT


RUN_BLOCK = Kernel(run_block, static=True)
