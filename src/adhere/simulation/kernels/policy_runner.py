"""What every way of running a policy offers: compiled code, plain Python, or a GPU."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from adhere.populations import PatientTables, Population
from adhere.simulation.kernels.kernel import Tallies
from adhere.simulation.measures.measure import n_last
from adhere.simulation.plan import Integers

Started: TypeAlias = Callable[[], Tallies]


class PolicyRunner(ABC):
    """Runs one policy on one population."""

    resolved: str
    deciders: tuple[str, ...]

    def __init__(self, population: Population, n_patients: int, grid: Integers) -> None:
        self._population = population
        self._n_patients, self._grid, self._n_last = n_patients, grid, n_last(n_patients)

    def to_compile(self) -> object:
        """What is left to compile, the same for all that share it; None if nothing is."""
        return None

    def load_tables(self, announce: Callable[[str], None]) -> None:  # noqa: B027  (most need none)
        """Load or compute what the policy looks things up in."""

    @abstractmethod
    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first block."""

    @abstractmethod
    def start(self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers) -> Started:
        """Start some runs; what is returned waits until they are through, and returns their tallies.

        `done[0]` counts patients; a non-zero `stop[0]` ends it.
        """

    def _blank_tallies(self, n_runs: int) -> Tallies:
        return Tallies.zeros(n_runs, len(self._grid), self._population.n_arms, len(self.deciders))
