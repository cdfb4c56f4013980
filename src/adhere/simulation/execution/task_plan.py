"""What a plan and its runner offer to whoever runs the tasks, whether it simulates policies or trials of a design."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from adhere.simulation.plan import Integers

T = TypeVar("T")  # a task
F = TypeVar("F")  # what a task found
F_co = TypeVar("F_co", covariant=True)


class AnyPlan(Protocol[T]):
    """Everything that decides the numbers, cut into tasks. It can be pickled."""

    @property
    def policies(self) -> tuple[object, ...]:
        """Those that workers must know."""

    @property
    def total_patients(self) -> int:
        """How many patients are simulated."""

    @property
    def blocks_per_task(self) -> int:
        """How many blocks are worth sending together to a worker elsewhere."""

    def patients_in(self, task: T) -> int:
        """How many of the patients a task simulates."""

    def tasks(self, blocks_per_task: int) -> Iterator[T]:
        """All blocks in their order, so many at a time."""


class AnyRunner(Protocol[T, F_co]):
    """Runs tasks of a plan. Its class makes one of the plan alone."""

    @property
    def plan(self) -> AnyPlan[T]:
        """What is run."""

    def blocks_at_once(self, n_threads: int) -> int:
        """How many blocks one of so many threads of this process is given at a time, or the GPU."""

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first task."""

    def run(self, task: T, done: Integers, stop: Integers) -> F_co:
        """Run a task; `done[0]` counts patients, a non-zero `stop[0]` ends it."""
