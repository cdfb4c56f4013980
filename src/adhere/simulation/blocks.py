"""All runs of a simulation, cut into blocks that anyone may run, and what they found, put together in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from adhere.policies import Policy
from adhere.populations import Population
from adhere.simulation.kernel import Tallies
from adhere.simulation.measures import Floats, n_last, pooled_rows, rows_of_policies
from adhere.simulation.moments import Moments
from adhere.simulation.quantiles import QuantileSketch
from adhere.simulation.runners import CompiledRunner, PythonRunner, Runner

Integers = NDArray[np.int64]
Summary = tuple[Moments, QuantileSketch]
Block = tuple[range, range]  # designs, runs
Task = list[Block]  # consecutive blocks
_PATIENTS_PER_BLOCK, _SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 20, 16, 4096
# A task that is sent to a worker should take some tenths of a second: much longer than to send it, yet short enough
# to see progress. To measure a run takes as long as to simulate some patients.
_PATIENTS_PER_TASK, _PATIENTS_PER_MEASURING = 1 << 23, 64
_PATIENTS_PER_LAUNCH, _BYTES_PER_LAUNCH = 1 << 31, 1 << 26


@dataclass(frozen=True)
class Design:
    """A population and what runs each policy on it."""

    population: Population
    runners: tuple[Runner, ...]
    reference: int


@dataclass(frozen=True)
class Findings:
    """What a task found: moments block by block, since their order of merging matters, and one sketch of all."""

    moments: list[dict[int, list[Moments]]]  # for each block, by summary and policy
    sketches: dict[int, list[QuantileSketch]]  # by summary and policy


@dataclass(frozen=True)
class Work:
    """All runs, cut into blocks. How they are cut depends on the work alone, never on who does it."""

    policies: tuple[object, ...]
    populations: tuple[Population, ...]
    reference: int
    n_patients: int
    n_runs: int
    seed: int
    grid: Integers
    pooled: bool
    device: str = "cpu"

    @cached_property
    def designs(self) -> tuple[Design, ...]:
        """Every population with every policy made ready for it."""
        return tuple(
            Design(population, tuple(self._runner(policy, population) for policy in self.policies), self.reference)
            for population in self.populations
        )

    def _runner(self, policy: object, population: Population) -> Runner:
        arguments = (policy, population, self.n_patients, self.grid, n_last(self.n_patients))
        if self.device == "cuda":
            from adhere.simulation.gpu_runner import GpuRunner

            return GpuRunner(*arguments)  # type: ignore[arg-type]
        return CompiledRunner(*arguments) if isinstance(policy, Policy) else PythonRunner(*arguments)  # type: ignore[arg-type]

    @property
    def n_summaries(self) -> int:
        """One list of summaries for each population, and one for their average."""
        return len(self.populations) + self.pooled

    @property
    def total_patients(self) -> int:
        """How many patients are simulated, each policy's counted."""
        return self.n_runs * self.n_patients * len(self.policies) * len(self.populations)

    def patients_in(self, task: Task) -> int:
        """How many of them a task simulates."""
        return sum(len(indices) * len(runs) for indices, runs in task) * self.n_patients * len(self.policies)

    @property
    def block_size(self) -> int:
        """How many runs a block has, but for the last."""
        return min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, _PATIENTS_PER_BLOCK // self.n_patients))

    @property
    def blocks_per_task(self) -> int:
        """How many blocks are worth sending together to a worker; plain Python takes seconds for a single one."""
        if not all(isinstance(policy, Policy) for policy in self.policies):
            return 1
        indices, runs = next(self.blocks())
        per_run = len(self.policies) * (self.n_patients + _PATIENTS_PER_MEASURING)
        return max(1, _PATIENTS_PER_TASK // (len(indices) * len(runs) * per_run))

    @property
    def blocks_per_launch(self) -> int:
        """How many blocks a GPU is given at a time: as many as its many threads need, if their tallies fit."""
        in_block = [self.designs[index] for index in next(self.blocks())[0]]
        numbers = sum(
            (len(self.grid) + 1) * (design.population.n_arms + 2) + len(runner.deciders)
            for design in in_block
            for runner in design.runners
        )
        runs = min(_BYTES_PER_LAUNCH // (8 * numbers), _PATIENTS_PER_LAUNCH // self.n_patients)
        return max(1, runs // self.block_size)

    def blocks(self) -> Iterator[Block]:
        """Every (designs, runs), in the order in which results are merged; designs to be pooled go together."""
        size = len(self.populations) if self.pooled else 1
        for index in range(0, len(self.populations), size):
            for first in range(0, self.n_runs, self.block_size):
                yield range(index, index + size), range(first, min(first + self.block_size, self.n_runs))

    def tasks(self, n_blocks: int) -> Iterator[Task]:
        """All blocks in their order, so many at a time."""
        blocks = self.blocks()
        while task := list(islice(blocks, n_blocks)):
            yield task

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile what is not compiled yet."""
        for design in self.designs:
            for runner in design.runners:
                runner.prepare(announce)

    def run(self, task: Task, done: Integers, stop: Integers) -> Findings:
        """Run every policy over some blocks of runs; `done[0]` counts patients, a non-zero `stop[0]` ends it."""
        found = Findings([], {})
        for indices, blocks in groupby(task, key=itemgetter(0)):
            every_run = [runs for _, runs in blocks]
            together = range(every_run[0].start, every_run[-1].stop)
            started = {index: self._start(self.designs[index], together, done, stop) for index in indices}
            tallied = {index: (everyone, means) for index, (everyone, means, _) in started.items()}
            for wait in (wait for *_, waits in started.values() for wait in waits):
                wait()
            # Not all at once: what is measured of some thousand runs at a time stays near the core.
            size = self.block_size * max(1, _LARGEST_BLOCK // self.block_size)
            for first in range(0, len(together), size):
                own = slice(first, first + size)
                self._measure({index: self._rows(index, *tallied[index], own) for index in indices}, found)
        return found

    def _start(
        self, design: Design, runs: range, done: Integers, stop: Integers
    ) -> tuple[list[Tallies], Floats, list[Callable[[], None]]]:
        """What each policy will leave behind in some runs, the mean reward of each arm, and what to wait for."""
        population = design.population
        tables = population.tables(self.seed, runs.start, len(runs))
        everyone = [
            Tallies.zeros(len(runs), len(self.grid), population.n_arms, len(runner.deciders))
            for runner in design.runners
        ]
        waits = [
            runner.start(self.seed, runs.start, tables, tallies, done, stop)
            for runner, tallies in zip(design.runners, everyone, strict=True)
        ]
        return everyone, tables.means, waits

    def _rows(self, index: int, everyone: list[Tallies], means: Floats, own: slice) -> list[Floats]:
        """What is measured in some of the runs, policy by policy."""
        some = [tallies.of_runs(own) for tallies in everyone]
        its_means = means if len(means) == 1 else means[own]
        return rows_of_policies(some, its_means, self.grid.astype(np.float64), self.designs[index].reference)

    def _measure(self, rows: dict[int, list[Floats]], found: Findings) -> None:
        """Add the moments of each block, and sketches of all, to what was found."""
        if self.pooled:
            by_policy = zip(*rows.values(), strict=True)
            rows[len(self.designs)] = [pooled_rows(matrices, len(self.grid)) for matrices in by_policy]
        of_blocks = {
            index: zip(*(Moments.of_blocks(matrix, self.block_size) for matrix in matrices), strict=True)
            for index, matrices in rows.items()
        }
        for by_index in zip(*of_blocks.values(), strict=True):
            found.moments.append({index: list(own) for index, own in zip(of_blocks, by_index, strict=True)})
        for index, matrices in rows.items():
            sketches = [QuantileSketch.of(matrix[:, len(self.grid) - 1]) for matrix in matrices]
            found.sketches[index] = _merged_sketches(found.sketches.get(index), sketches)


class Totals:
    """What was found so far. Moments merged in another order would differ in their last bits."""

    def __init__(self, n_summaries: int) -> None:
        self._moments: list[list[Moments]] = [[] for _ in range(n_summaries)]
        self._sketches: dict[int, list[QuantileSketch]] = {}

    def add(self, found: Findings) -> None:
        """Add what the next task found: tasks are added in their order."""
        for block in found.moments:
            for index, later in block.items():
                earlier = self._moments[index]
                pairs = zip(earlier, later, strict=True)
                self._moments[index] = [one.merge(other) for one, other in pairs] if earlier else later
        for index, sketches in found.sketches.items():
            self._sketches[index] = _merged_sketches(self._sketches.get(index), sketches)

    def summaries(self) -> list[list[Summary]]:
        """Every summary, policy by policy."""
        return [list(zip(moments, self._sketches[index], strict=True)) for index, moments in enumerate(self._moments)]


def _merged_sketches(one: list[QuantileSketch] | None, other: list[QuantileSketch]) -> list[QuantileSketch]:
    return other if one is None else [mine.merge(theirs) for mine, theirs in zip(one, other, strict=True)]
