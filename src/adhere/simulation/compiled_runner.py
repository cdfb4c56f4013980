"""Runs a policy's compiled form."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from adhere.compilation import classes_of
from adhere.compilation.static import static_type
from adhere.compilation.storage import cache_folder
from adhere.policies import Policy
from adhere.policies.policy import TrialShape
from adhere.populations import PatientTables, Population
from adhere.randomness import STREAM_SIZE, stream_keys
from adhere.simulation.kernel import NO_FAULT, RUN_BLOCK, Room, Sizes, Tallies
from adhere.simulation.patients import Arms, Patients
from adhere.simulation.plan import Integers
from adhere.simulation.policy_runner import nothing_to_wait_for, wrong_arm


class CompiledRunner:
    """Runs a policy's compiled form on processors."""

    loop: ClassVar[Any] = RUN_BLOCK  # to be compiled for each composition
    target = ""

    def __init__(self, policy: Policy, population: Population, n_patients: int, grid: Integers, n_last: int) -> None:
        resolved = policy.resolved(population.n_arms, n_patients)
        self._assembled = resolved.assemble(TrialShape(population.n_arms, population.reward_values))
        self.resolved = str(resolved)
        self.deciders = self._assembled.deciders
        self._population = population
        self._n_patients, self._grid, self._n_last = n_patients, grid, n_last
        self.kernel: Any = None

    @property
    def composition(self) -> Any:
        """What is compiled: policies of one composition share their compiled code."""
        return static_type(self._assembled.rule)

    def is_ready(self) -> bool:
        """Whether nothing is left to compile."""
        return bool(self.loop.ready(*self._example()))

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""
        if not self.is_ready():
            if cache_folder(frozenset(classes_of(self._assembled.rule))) is None:
                reason = "its code is not in a file of its own, or no cache folder can be written"
                message = f"{self.resolved} is compiled anew each time: {reason}"
                warnings.warn(message, stacklevel=2)
            announce(f"compiling {self.resolved}{self.target} (once; then it is kept on disk)")
        self.kernel = self.loop.compiled(*self._example())

    def _example(self) -> tuple[Any, ...]:
        """Arguments of the right types, for a block of no runs."""
        tables = self._population.tables(0, 0, 1)
        tallies = Tallies.zeros(0, len(self._grid), self._population.n_arms, len(self.deciders))
        return self._arguments(0, 0, tables, tallies, np.zeros(1, np.int64), np.zeros(1, np.int64))

    def _arguments(
        self, seed: int, first_run: int, tables: PatientTables, tallies: Tallies, done: Integers, stop: Integers
    ) -> tuple[Any, ...]:
        assembled = self._assembled
        memo_size = assembled.memo_size + assembled.scratch_size
        arms = Arms(self._population.n_arms)
        sizes = Sizes(assembled.state.size, memo_size, STREAM_SIZE, arms, len(self.deciders))
        return (
            assembled.rule,
            sizes,
            assembled.state,
            Room.of(sizes),
            stream_keys(seed, first_run, len(tallies.rewards)),
            Patients.of(tables),
            self._n_patients,
            self._grid,
            self._n_last,
            tallies,
            done,
            stop,
        )

    def start(
        self, seed: int, first_run: int, tables: PatientTables, tallies: Tallies, done: Integers, stop: Integers
    ) -> Callable[[], None]:
        """Run the compiled loop, all of it; it lets other threads work meanwhile."""
        fault = self.kernel(*self._arguments(seed, first_run, tables, tallies, done, stop))
        if fault != NO_FAULT:
            raise wrong_arm(self.resolved, fault, self._population.n_arms)
        return nothing_to_wait_for
