"""What a simulation will run, cut into blocks and tasks by its own size alone, never by who runs them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.policies import Policy
from adhere.populations import Population
from adhere.simulation.execution.pickling import packed_policy, pickled, unpacked_policy

Integers = NDArray[np.int64]
_DEFAULT_POINTS = 20

MAX_BLOCK_SIZE = 4096
_PATIENTS_PER_BLOCK, _MIN_BLOCK_SIZE = 1 << 20, 16
# A task that is sent to a worker should take some tenths of a second: much longer than to send it, yet short enough
# to see progress. To measure a run takes as long as to simulate some patients.
_PATIENTS_PER_TASK, _PATIENTS_PER_MEASURING = 1 << 23, 64


class Block(NamedTuple):
    """Some consecutive runs on some populations, by their numbers; every policy is run."""

    populations: range
    runs: range


Task: TypeAlias = list[Block]  # consecutive blocks, run together


@dataclass(frozen=True)
class Plan:
    """Everything that decides the numbers of a simulation."""

    policies: tuple[object, ...]
    populations: tuple[Population, ...]
    reference: int
    n_patients: int
    n_runs: int
    seed: int
    grid: Integers
    pooled: bool
    device: str = "cpu"
    keep_runs: bool = False
    keep_grid: bool = False  # of each run that is kept, the shares of the arms along the grid, too

    @property
    def total_patients(self) -> int:
        """How many patients are simulated, each policy's counted."""
        return self.n_runs * self.n_patients * len(self.policies) * len(self.populations)

    def patients_in(self, task: Task) -> int:
        """How many of them a task simulates."""
        return sum(len(block.populations) * len(block.runs) for block in task) * self.n_patients * len(self.policies)

    @property
    def block_size(self) -> int:
        """How many runs a block has, but for the last."""
        return min(MAX_BLOCK_SIZE, max(_MIN_BLOCK_SIZE, _PATIENTS_PER_BLOCK // self.n_patients))

    @property
    def blocks_per_task(self) -> int:
        """How many blocks are worth sending together to a worker; plain Python takes seconds for a single one."""
        if not all(isinstance(policy, Policy) for policy in self.policies):
            return 1
        first = next(self.blocks())
        per_run = len(self.policies) * (self.n_patients + _PATIENTS_PER_MEASURING)
        return max(1, _PATIENTS_PER_TASK // (len(first.populations) * len(first.runs) * per_run))

    def blocks(self) -> Iterator[Block]:
        """Every block, in the order in which results are merged; populations to be pooled go together."""
        size = len(self.populations) if self.pooled else 1
        for index in range(0, len(self.populations), size):
            for first in range(0, self.n_runs, self.block_size):
                yield Block(range(index, index + size), range(first, min(first + self.block_size, self.n_runs)))

    def tasks(self, blocks_per_task: int) -> Iterator[Task]:
        """All blocks in their order, so many at a time."""
        blocks = self.blocks()
        while task := list(islice(blocks, blocks_per_task)):
            yield task

    def __reduce__(self) -> tuple[Any, ...]:
        policies = [packed_policy(policy) for policy in self.policies]
        populations = [pickled("populations", one.name, one) for one in self.populations]
        return _unpacked, ({**vars(self), "policies": policies, "populations": populations},)


def _unpacked(contents: dict[str, Any]) -> Plan:
    """The plan that was pickled, on a worker."""
    policies = tuple(map(unpacked_policy, contents["policies"]))
    populations = tuple(map(pickle.loads, contents["populations"]))
    return Plan(**{**contents, "policies": policies, "populations": populations})


def grid_points(grid: int | Sequence[int] | None, n_patients: int) -> Integers:
    """The numbers of patients after which measures are recorded; the last is that of the whole trial."""
    if grid is None:
        grid = min(_DEFAULT_POINTS, n_patients)
    if isinstance(grid, (int, np.integer)):
        n_points = check_integer("grid", grid, 1, n_patients)
        return np.unique(np.linspace(n_patients / n_points, n_patients, n_points).round().astype(np.int64))
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InputError("grid", grid, "numbers of patients, or how many points to spread evenly")
    points = sorted({check_integer("grid", point, 1, n_patients) for point in grid} | {n_patients})
    return np.array(points, np.int64)
