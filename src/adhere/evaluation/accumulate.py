"""What tasks found of trials, put together in their order, in memory that does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from adhere.evaluation.characteristics.distributions import Distributions
from adhere.evaluation.characteristics.outcomes import Floats, TrialOutcomes
from adhere.evaluation.plan import DesignPlan, max_patients
from adhere.simulation.measures.moments import Moments

MAX_KEPT_BLOCKS = 100  # an even number


class Found(NamedTuple):
    """What some whole blocks of trials of one design in one scenario came to, in the order of their numbers.

    `differences` are from the reference design, of the columns that both have; of the reference itself there are
    none. `outcomes` are of no trials unless they are to be kept.
    """

    blocks: list[Moments]
    differences: list[Moments]
    distributions: Distributions
    outcomes: TrialOutcomes


# By the numbers of scenario and design. A task may find something in several steps.
TaskResult: TypeAlias = dict[tuple[int, int], list[Found]]


def found_in(plan: DesignPlan, design: int, outcomes: TrialOutcomes, rows: Floats, reference_rows: Floats) -> Found:
    """What some whole blocks came to: a row of numbers for each trial, and for the same trial of the reference."""
    size, columns = plan.block_size, plan.columns[design]
    shared = slice(columns.n_shared)
    return Found(
        Moments.of_blocks(rows, size),
        Moments.of_blocks(rows[:, shared] - reference_rows[:, shared], size) if design else [],
        Distributions.of(outcomes, rows, columns, max_patients(plan.designs[design])),
        outcomes if plan.keep_trials else outcomes.of_runs(slice(0)),
    )


@dataclass
class Totals:
    """What is known so far of all trials of one design in one scenario."""

    distributions: Distributions
    outcomes: TrialOutcomes  # of every trial, if they are to be kept
    blocks: list[Moments] = field(default_factory=list)
    differences: list[Moments] = field(default_factory=list)


def add_blocks(kept: list[Moments], later: Iterable[Moments]) -> None:
    """Keep the next blocks. When there are too many, neighbours become one, and so do those to come."""
    for block in later:
        if kept and kept[-1].n < kept[0].n:
            kept[-1] = kept[-1].merge(block)
            continue
        if len(kept) == MAX_KEPT_BLOCKS:
            kept[:] = [one.merge(other) for one, other in zip(kept[::2], kept[1::2], strict=True)]
        kept.append(block)


class Accumulator:
    """All that is known so far, by the numbers of scenario and design."""

    def __init__(self, plan: DesignPlan) -> None:
        self._plan = plan
        self.totals: dict[tuple[int, int], Totals] = {}

    def add_task(self, result: TaskResult) -> None:
        """Add what the next task found: tasks are added in their order."""
        for key, steps in result.items():
            for found in steps:
                self._add(key, found)

    def _add(self, key: tuple[int, int], found: Found) -> None:
        if key in self.totals:
            totals = self.totals[key]
            totals.distributions = totals.distributions.merge(found.distributions)
        else:
            totals = self.totals[key] = Totals(found.distributions, _blank_outcomes(self._plan, key[1]))
        first = sum(block.n for block in totals.blocks)
        for kept, new in zip(totals.outcomes, found.outcomes, strict=True):
            kept[first : first + len(new)] = new
        add_blocks(totals.blocks, found.blocks)
        add_blocks(totals.differences, found.differences)


def _blank_outcomes(plan: DesignPlan, design: int) -> TrialOutcomes:
    columns = plan.columns[design]
    return TrialOutcomes.zeros(plan.n_trials if plan.keep_trials else 0, columns.n_arms, len(columns.grid))


def bytes_per_trial(plan: DesignPlan) -> int:
    """How many bytes the outcomes of one trial of each design take."""
    return sum(
        array.nbytes
        for columns in plan.columns
        for array in TrialOutcomes.zeros(1, columns.n_arms, len(columns.grid))
    )
