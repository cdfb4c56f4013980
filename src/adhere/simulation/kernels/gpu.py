"""The loop over patients on a GPU: one thread runs one trial at a time, by the same rules as on processors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import inline, memo_of, state_of
from adhere.compilation.gpu import GpuKernel, cuda
from adhere.compilation.local import clear_floats, copy_into, local_floats, local_integers, local_words
from adhere.policies.base.generic import choose, decider, note_allocation, remember, update
from adhere.randomness import CHOOSE, LEARN, PATIENT, STREAM_SIZE, point, set_keys, step, word_at


class Cells(NamedTuple):
    """How many draws a patient takes, how many cells each lands in, and how many both make."""

    draws: int
    cells: int
    bounds: int


@inline
def draw_patient(arms: Any, cells: Any, patients: Any, bounds: Any, t: int, chosen: int, rng: Any) -> Any:
    """What the next patient takes and gains, and the mean over arms of what it would gain."""
    actual, reward, total, cell = np.uint32(0), 0.0, 0.0, np.uint32(0)
    for arm in range(arms.number):
        if arm < cells.draws:
            drawn, cell = float(step(word_at(rng[0], rng[1], t, PATIENT, arm))), np.uint32(0)
            for boundary in range(cells.cells - 1):
                cell += np.uint32(drawn >= bounds[arm * cells.cells + boundary])
        gained = patients.reward[arm, cell]
        total += gained
        actual, reward = (patients.actual[arm, cell], gained) if arm == chosen else (actual, reward)
    return actual, reward, total / arms.number


def run_on_gpu(
    rule: Any, sizes: Any, initial: Any, keys: Any, patients: Any, n_patients: int, grid: Any, n_last: int,
    tallies: Any, cells: Any, fault: Any,
) -> None:  # fmt: skip
    """Run one trial for each row of keys; `fault[0]` becomes an arm that does not exist if one is chosen.

    All lengths are static (`GpuRunner` sees to it), so that what stands in for longer arrays is never used.
    """
    n_arms, before_last = sizes.arms.number, n_patients - n_last
    floats, memo_floats = local_floats(sizes.state, initial), local_floats(sizes.memo, initial)
    state, memo = state_of(rule, floats), memo_of(rule, memo_floats)
    rng = local_words(STREAM_SIZE, keys[0])
    pulls = local_integers(sizes.arms.number, grid)
    # Whole numbers too, but as floats: there are many of them, and a GPU has more time for floats.
    decisions, bounds = local_floats(sizes.deciders, initial), local_floats(cells.bounds, initial)
    run = cuda.grid(1)
    while run < keys.shape[0]:
        copy_into(floats, initial, sizes.state)
        clear_floats(memo_floats, sizes.memo)
        for arm in range(n_arms):
            pulls[arm], tallies.last_pulls[run, arm] = 0, 0
        for part in range(sizes.deciders):
            decisions[part] = 0.0
        for draw in range(cells.draws):
            for cell in range(cells.cells):
                bounds[draw * cells.cells + cell] = patients.bounds[run % patients.bounds.shape[0], draw, cell]
        set_keys(rng, keys[run, 0], keys[run, 1])
        total_reward, total_baseline, mark, noted = 0.0, 0.0, 0, 0
        while noted < n_patients:
            until = grid[mark]
            until = before_last if noted < before_last < until else until
            for t in range(noted, until):
                point(rng, t, CHOOSE)
                remember(rule, state, memo)
                chosen = choose(rule, state, memo, 1.0, rng)
                if chosen < 0 or chosen >= n_arms:
                    fault[0] = chosen
                    return
                note_allocation(rule, state, chosen, rng)
                actual, reward, baseline = draw_patient(sizes.arms, cells, patients, bounds, t, chosen, rng)
                point(rng, t, LEARN)
                update(rule, state, memo, chosen, actual, reward, 1.0, rng)
                for arm in range(1, n_arms):  # what is left belongs to arm 0
                    pulls[arm] += 1 if arm == chosen else 0
                by = decider(rule, memo)
                for part in range(1, sizes.deciders):
                    decisions[part] += 1.0 if part == by else 0.0
                total_reward += reward
                total_baseline += baseline
            noted = until
            pulls[0] = noted
            for arm in range(1, n_arms):
                pulls[0] -= pulls[arm]
            if noted == before_last:
                for arm in range(n_arms):
                    tallies.last_pulls[run, arm] = -pulls[arm]
            if noted == grid[mark]:
                for arm in range(n_arms):
                    tallies.pulls[run, mark, arm] = pulls[arm]
                tallies.rewards[run, mark] = total_reward
                tallies.baselines[run, mark] = total_baseline
                mark += 1
        for arm in range(n_arms):
            tallies.last_pulls[run, arm] += pulls[arm]
        decisions[0] = n_patients
        for part in range(1, sizes.deciders):
            decisions[0] -= decisions[part]
        for part in range(sizes.deciders):
            tallies.decisions[run, part] = np.int64(decisions[part])
        run += cuda.gridsize(1)


RUN_ON_GPU = GpuKernel(run_on_gpu)
