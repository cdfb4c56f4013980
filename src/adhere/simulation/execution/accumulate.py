"""Accumulation of what tasks measured, in their order and in memory that does not grow with the number of runs."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from adhere.simulation.execution.plan import Plan
from adhere.simulation.measures.moments import Moments

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


class Measured(NamedTuple):
    """Measurements of consecutive whole blocks of runs of one policy or design in one scenario, or all that is known.

    `differences` are those from the reference design, if they are measured apart. `distribution` has a `merge`.
    `kept` are arrays by run, of no runs unless each is to be kept.
    """

    blocks: list[Moments]
    differences: list[Moments]
    distribution: Any
    kept: tuple[Any, ...]


Key: TypeAlias = tuple[int, int]  # the indices of scenario and of policy or design
# A task may measure in several steps. It keeps the moments of each block: merged in another order they would differ
# in their last bits.
TaskResult: TypeAlias = list[tuple[Key, Measured]]


def add_result(totals: dict[Key, Measured], result: TaskResult, plan: Plan) -> None:
    """Add the result of the next task to all that is known so far: tasks are added in their order."""
    for key, measured in result:
        if total := totals.get(key):
            total = total._replace(distribution=total.distribution.merge(measured.distribution))
        else:
            blank = [np.empty((len(one) and plan.n_runs, *one.shape[1:]), one.dtype) for one in measured.kept]
            total = Measured([], [], measured.distribution, tuple(blank))
        totals[key] = total
        first = sum(block.n for block in total.blocks)
        for kept, new in zip(total.kept, measured.kept, strict=True):
            kept[first : first + len(new)] = new
        add_blocks(total.blocks, measured.blocks, plan.max_blocks)
        add_blocks(total.differences, measured.differences, plan.max_blocks)


def add_blocks(kept: list[Moments], later: Iterable[Moments], max_blocks: int) -> None:
    """Keep the next blocks. When there are too many, neighbours become one, and so do those to come.

    `max_blocks` is 1 or an even number.
    """
    for block in later:
        if kept and (max_blocks == 1 or kept[-1].n < kept[0].n):
            kept[-1] = kept[-1].merge(block)
            continue
        if len(kept) == max_blocks:
            kept[:] = [one.merge(other) for one, other in zip(kept[::2], kept[1::2], strict=True)]
        kept.append(block)


def some_runs(arrays: Arrays, runs: slice) -> Arrays:
    """The same named tuple of arrays, of some runs."""
    return type(arrays)(*(one[runs] for one in arrays))
