"""What tasks found, put together in their order: moments and quantile sketches by population and policy."""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from adhere.simulation.measure import Floats
from adhere.simulation.moments import Moments
from adhere.simulation.quantiles import QuantileSketch

# By the numbers of population and policy; the pooled population comes last. A task keeps the moments of each block:
# merged in another order they would differ in their last bits.
TaskResult: TypeAlias = dict[tuple[int, int], tuple[list[Moments], QuantileSketch]]
Accumulator: TypeAlias = dict[tuple[int, int], tuple[Moments, QuantileSketch]]


def add_blocks(result: TaskResult, rows: dict[int, list[Floats]], block_size: int, n_grid: int) -> None:
    """Add what a task measured in its next blocks: by population and policy, a row for each run."""
    for population, matrices in rows.items():
        for policy, matrix in enumerate(matrices):
            blocks, sketch = Moments.of_blocks(matrix, block_size), QuantileSketch.of(matrix[:, n_grid - 1])
            key = population, policy
            if key in result:
                blocks, sketch = result[key][0] + blocks, result[key][1].merge(sketch)
            result[key] = blocks, sketch


def add_task(totals: Accumulator, result: TaskResult) -> None:
    """Add what the next task found: tasks are added in their order."""
    for key, (blocks, sketch) in result.items():
        if key in totals:
            moments, earlier = totals[key]
            blocks, sketch = [moments, *blocks], earlier.merge(sketch)
        totals[key] = reduce(Moments.merge, blocks), sketch
