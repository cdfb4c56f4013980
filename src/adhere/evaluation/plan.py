"""Which trials of which designs are simulated, cut into blocks and tasks by their number alone."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from adhere.design.design import Design
from adhere.design.planned_looks import planned_looks
from adhere.errors import InputError
from adhere.evaluation.characteristics.columns import Columns
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.policies import Policy, as_policy
from adhere.simulation.execution.pickling import pickled
from adhere.simulation.plan import MAX_BLOCK_SIZE, grid_points

# The means of each block show how the estimates converge, so there are some tens of them.
_N_BLOCKS, _MIN_BLOCK_SIZE = 50, 16
# A task should take some tenths of a second, wherever it runs.
_PATIENTS_PER_TASK = 1 << 19


class Block(NamedTuple):
    """Some consecutive trials in one scenario, by their numbers; of every design."""

    scenario: int
    runs: range


Task: TypeAlias = list[Block]  # consecutive blocks, run together


@dataclass(frozen=True)
class DesignPlan:
    """Everything that decides the numbers of an evaluation. The first design is the reference."""

    designs: tuple[Design, ...]
    scenarios: tuple[Scenario, ...]
    n_trials: int
    seed: int
    device: str = "cpu"
    keep_trials: bool = False

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Those of the designs."""
        return tuple(as_policy(design.policy) for design in self.designs)

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower outcome is better; all designs agree on it."""
        return self.designs[0].lower_is_better

    @cached_property
    def columns(self) -> tuple[Columns, ...]:
        """What is measured of a trial of each design."""
        return tuple(
            Columns(len(design.arms), tuple(grid_points(None, max_patients(design)).tolist()), planned_looks(design))
            for design in self.designs
        )

    @property
    def patients_per_trial(self) -> int:
        """How many patients the same trial of each design has at most, in all."""
        return sum(map(max_patients, self.designs))

    @property
    def total_patients(self) -> int:
        """How many patients are simulated if no trial stops early."""
        return self.n_trials * len(self.scenarios) * self.patients_per_trial

    def patients_in(self, task: Task) -> int:
        """How many of them a task simulates."""
        return sum(len(block.runs) for block in task) * self.patients_per_trial

    @property
    def block_size(self) -> int:
        """How many trials a block has, but for the last."""
        return min(MAX_BLOCK_SIZE, max(_MIN_BLOCK_SIZE, -(-self.n_trials // _N_BLOCKS)))

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.scenarios) * -(-self.n_trials // self.block_size)

    @property
    def blocks_per_task(self) -> int:
        """How many blocks are worth sending together to a worker."""
        return max(1, _PATIENTS_PER_TASK // (self.block_size * self.patients_per_trial))

    def blocks(self) -> Iterator[Block]:
        """Every block, in the order in which results are merged."""
        for scenario in range(len(self.scenarios)):
            for first in range(0, self.n_trials, self.block_size):
                yield Block(scenario, range(first, min(first + self.block_size, self.n_trials)))

    def tasks(self, blocks_per_task: int) -> Iterator[Task]:
        """All blocks in their order, so many at a time."""
        blocks = self.blocks()
        while task := list(islice(blocks, blocks_per_task)):
            yield task

    def __reduce__(self) -> tuple[Any, ...]:
        scenarios = [pickled("scenarios", one.name, one) for one in self.scenarios]
        return _unpacked, (self.designs, scenarios, self.n_trials, self.seed, self.device, self.keep_trials)


def _unpacked(designs: tuple[Design, ...], scenarios: list[bytes], *others: Any) -> DesignPlan:
    """The plan that was pickled, on a worker."""
    return DesignPlan(designs, tuple(map(pickle.loads, scenarios)), *others)


def max_patients(design: Design) -> int:
    """How many patients a trial of a design has unless it stops early."""
    if design.n_patients is None:
        expected = "the largest number of patients of a trial, to simulate it"
        raise InputError(f"n_patients of {design.name}", None, expected)
    return design.n_patients
