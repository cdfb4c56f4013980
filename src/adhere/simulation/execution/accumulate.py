"""Accumulation of task results, in task order, with memory that does not grow with the number of runs."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from adhere.simulation.execution.plan import Plan
from adhere.simulation.measures.moments import Moments

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


class Measured(NamedTuple):
    """Measurements of one policy or design in one scenario: of consecutive blocks of runs, or of all runs so far.

    `differences` are differences from the reference design, if they are measured separately. `distribution` has a
    `merge` method. `kept` contains arrays by run, which are empty unless every run is stored.
    """

    blocks: list[Moments]
    differences: list[Moments]
    distribution: Any
    kept: tuple[Any, ...]


Key: TypeAlias = tuple[int, int]  # indices of the scenario and of the policy or design
# A task may measure in several steps. It returns the moments of each block separately, since merging them in another
# order would change their last bits.
TaskResult: TypeAlias = list[tuple[Key, Measured]]


def add_result(totals: dict[Key, Measured], result: TaskResult, plan: Plan) -> None:
    """Add the result of the next task to the totals. Tasks are added in their order."""
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
    """Append the next blocks. If there are too many, merge neighbours, and later blocks in the same way.

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
    """Return the same named tuple of arrays, restricted to some runs."""
    return type(arrays)(*(one[runs] for one in arrays))
