"""What tasks found, put together in their order: moments and quantile sketches by population and policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TypeAlias

import numpy as np

from adhere.simulation.measures.measure import SURPLUSES, Floats, without_rounding
from adhere.simulation.measures.moments import Moments
from adhere.simulation.measures.quantiles import QuantileSketch
from adhere.simulation.plan import Plan

# By the numbers of population and policy; the pooled population comes last. A task keeps the moments of each block:
# merged in another order they would differ in their last bits.
# Of each run it keeps some numbers, [number, run]: none, unless a user wants them.
TaskResult: TypeAlias = dict[tuple[int, int], tuple[list[Moments], QuantileSketch, Floats]]
Accumulator: TypeAlias = dict[tuple[int, int], tuple[Moments, QuantileSketch, Floats]]


def add_blocks(
    result: TaskResult, rows: dict[int, list[Floats]], plan: Plan, kept: Callable[[int], list[int]]
) -> None:
    """Add what a task measured in its next blocks: by population and policy, a row for each run.

    `kept` says which columns of a population's rows to keep for each run; with `keep_runs` the measures come first.
    """
    final = len(plan.grid) - 1
    for population, matrices in rows.items():
        for policy, matrix in enumerate(matrices):
            blocks, key = Moments.of_blocks(matrix, plan.block_size), (population, policy)
            sketch = QuantileSketch.of(without_rounding(matrix[:, final], plan.n_patients))
            runs = matrix[:, kept(population)].T
            if plan.keep_runs:
                runs[SURPLUSES] = without_rounding(runs[SURPLUSES], plan.n_patients)
            if key in result:
                blocks, sketch = result[key][0] + blocks, result[key][1].merge(sketch)
                runs = np.hstack([result[key][2], runs])
            result[key] = blocks, sketch, runs


def add_task(totals: Accumulator, n_runs: int, result: TaskResult) -> None:
    """Add what the next task found: tasks are added in their order. `n_runs` there will be in all."""
    for key, (blocks, sketch, runs) in result.items():
        if key in totals:
            moments, earlier, every_run = totals[key]
            n_before, blocks, sketch = moments.n, [moments, *blocks], earlier.merge(sketch)
        else:
            n_before, every_run = 0, np.empty((len(runs), n_runs))
        every_run[:, n_before : n_before + runs.shape[1]] = runs
        totals[key] = reduce(Moments.merge, blocks), sketch, every_run
