"""Runners of a plan's tasks: every policy or design plays blocks of runs, which are then measured."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from itertools import count, groupby
from operator import attrgetter
from threading import BoundedSemaphore
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from adhere.populations import PatientTables, Population
from adhere.simulation.execution.accumulate import TaskResult
from adhere.simulation.execution.plan import MAX_BLOCK_SIZE, Integers, Plan, Task

P = TypeVar("P", bound=Plan)
# A launch on a GPU plays many trials and needs much memory. The next launch is prepared while one runs.
_LAUNCHES = 2


class Runner:
    """Player of trials of one policy or design in one scenario. By default it needs no tables and no compilation."""

    given: object  # the policy, as it was given
    population: Population

    def to_compile(self) -> object:
        """Return a key of the code that must still be compiled, shared by runners that share the code, or None."""
        return None

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load or compute lookup tables."""

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile the code, or load code that was compiled earlier."""

    def start(
        self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers
    ) -> Callable[[], Any]:
        """Start some runs, and return a function that waits for them and returns their outcomes.

        `done[0]` counts patients; a non-zero `stop[0]` ends the runs.
        """
        raise NotImplementedError


class Played(NamedTuple):
    """Outcomes of each policy or design for runs in one scenario, and the patients' tables."""

    outcomes: list[Any]
    tables: PatientTables


class TaskRunner(ABC, Generic[P]):
    """A plan with every policy or design prepared for every scenario: `runners[scenario][policy or design]`."""

    start_all_at_once: ClassVar[bool]  # whether a GPU has enough memory to play all policies or designs at once

    def __init__(self, plan: P) -> None:
        self.plan = plan
        self.runners: Sequence[Sequence[Runner]] = ()
        self._launching = BoundedSemaphore(_LAUNCHES) if plan.device == "cuda" else nullcontext()

    @abstractmethod
    def blocks_at_once(self, n_threads: int) -> int:
        """Return how many blocks a thread of this process, or the GPU, is given at a time."""

    @abstractmethod
    def measure(self, played: dict[int, Played], runs: slice, result: TaskResult) -> None:
        """Add the measurements of some of the runs of each scenario to the result."""

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Load tables and compile missing code. Each announcement is numbered, e.g. "(2 of 5)"."""
        every = [runner for runners in self.runners for runner in runners]
        for runner in every:
            runner.load_tables(announce)
        numbers = count(1)
        # Computed only at the first message: if everything is compiled, a start should cost nothing.
        n_in_all = cache(lambda: len({runner.to_compile() for runner in every} - {None}))

        def number(message: str) -> None:
            place = next(numbers)
            announce(f"{message} ({place} of {max(n_in_all(), place)}, then kept on disk)…")

        for runner in every:
            runner.prepare(number)

    def run(self, task: Task, done: Integers, stop: Integers) -> TaskResult:
        """Run a task; `done[0]` counts patients, and a non-zero `stop[0]` ends it."""
        result: TaskResult = []
        block_size = self.plan.block_size
        for scenarios, blocks in groupby(task, key=attrgetter("scenarios")):
            every_run = [block.runs for block in blocks]
            runs = range(every_run[0].start, every_run[-1].stop)
            with self._launching:
                played = self._play(scenarios, runs, done, stop)
            if stop[0]:  # some trials were not played, and the result is not used
                return result
            # Measured in parts: the data of a few thousand runs fit into the processor's cache.
            size = block_size * max(1, MAX_BLOCK_SIZE // block_size)
            for first in range(0, len(runs), size):
                self.measure(played, slice(first, first + size), result)
        return result

    def _play(self, scenarios: range, runs: range, done: Integers, stop: Integers) -> dict[int, Played]:
        started = {}
        for index in scenarios:
            runners, seed = self.runners[index], self.plan.seed
            tables, waits = runners[0].population.tables(seed, runs.start, len(runs)), []
            for runner in runners:
                waits.append(cache(runner.start(seed, runs, tables, done, stop)))
                if not self.start_all_at_once:
                    waits[-1]()
            started[index] = waits, tables
        return {index: Played([wait() for wait in waits], tables) for index, (waits, tables) in started.items()}
