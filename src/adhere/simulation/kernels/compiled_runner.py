"""Runs a policy's compiled form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from adhere.compilation.policy_failures import Loop, explain_failure
from adhere.compilation.static import composition_type, type_for
from adhere.errors import CompileError
from adhere.policies import Policy
from adhere.policies.base.policy import TrialShape
from adhere.policies.tables.table_cache import announcing, postponing
from adhere.populations import PatientTables, Population
from adhere.randomness import stream_keys
from adhere.simulation.execution.compile_progress import compiled_loop
from adhere.simulation.kernels.kernel import NO_FAULT, RUN_BLOCK, Room, Sizes, Tallies, run_block
from adhere.simulation.kernels.patients import Arms, Patients
from adhere.simulation.kernels.policy_runner import PolicyRunner, Started
from adhere.simulation.plan import Integers


class CompiledRunner(PolicyRunner):
    """Runs a policy's compiled form on processors."""

    loop: ClassVar[Any] = RUN_BLOCK  # to be compiled for each composition
    target, n_counts = "", 2

    def __init__(self, policy: Policy, population: Population, n_patients: int, grid: Integers) -> None:
        super().__init__(population, n_patients, grid)
        resolved = policy.resolved(population.n_arms, n_patients)
        shape = TrialShape(population.n_arms, population.reward_values, population.arms)
        self._assemble = partial(resolved.assemble, shape)
        with postponing() as later:
            assembled = self._assemble()
        self._lacks_tables = bool(later)
        self.resolved, self.deciders = str(resolved), assembled.deciders
        self._rule, self._state = assembled.rule, assembled.state
        memo_size = assembled.memo_size + assembled.scratch_size
        self._sizes = Sizes(assembled.state.size, memo_size, len(self.deciders), Arms(population.n_arms))
        self.kernel: Any = None

    @property
    def composition(self) -> Any:
        """What is compiled: policies of one composition share their compiled code."""
        return composition_type(self._rule)

    def is_ready(self) -> bool:
        """Whether nothing is left to compile."""
        return bool(self.loop.ready(*self._example()))

    def to_compile(self) -> object:
        """What is left to compile, the same for all that share it; None if nothing is."""
        return None if self.is_ready() else (self.composition, type_for(self._rule)(self._sizes))

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load the tables that the rule looks things up in, or compute them."""
        if self._lacks_tables:
            with announcing(announce):
                self._rule = self._assemble().rule
            self._lacks_tables = False

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""
        self.load_tables(announce)
        said = f"compiling {self.resolved}{self.target}"
        self.kernel = compiled_loop(self.loop, self._example(), self._rule, self.resolved, said, announce)

    def why_it_allocates(self) -> CompileError | None:
        """What keeps the loop from being compiled without run-time memory, which a GPU lacks, if something does."""
        return self.loop.why_it_allocates(*self._example())  # type: ignore[no-any-return]

    def _example(self) -> Any:
        """Arguments of the right types, for a block of no runs."""
        counts = np.zeros((self.n_counts, 1), np.int64)
        return self.arguments(0, range(0), self._population.tables(0, 0, 1), self._blank_tallies(0), *counts)

    def arguments(self, seed: int, runs: range, tables: PatientTables, tallies: Tallies, *counts: Any) -> Any:
        """What the loop takes."""
        keys, patients = stream_keys(seed, runs.start, len(runs)), Patients.of(tables)
        trial = self._n_patients, self._grid, self._n_last
        return self._rule, self._sizes, self._state, keys, patients, *trial, tallies, self._room(patients), *counts

    def _room(self, patients: Patients) -> Any:
        return Room.of(self._sizes, patients)

    def start(self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers) -> Started:
        """Run the compiled loop, all of it; it lets other threads work meanwhile."""
        tallies = self._blank_tallies(len(runs))
        error = None
        try:
            fault = self.kernel(*self.arguments(seed, runs, tables, tallies, done, stop))
        except Exception as raised:
            error, fault = raised, None
        if fault != NO_FAULT:
            raise explain_failure(self._loop(seed), runs, error, stop) from None
        return lambda: tallies

    def _loop(self, seed: int) -> Loop:
        """The loop as it plays a single run, to find out what made it fail."""

        def arguments(run: int, stop: Integers) -> Any:
            tables, done = self._population.tables(seed, run, 1), np.zeros(1, np.int64)
            return self.arguments(seed, range(run, run + 1), tables, self._blank_tallies(1), done, stop)

        population = self._population
        whose = self.resolved, self._rule, population.name, population.n_arms
        return Loop(*whose, run_block, self.kernel, arguments, NO_FAULT)
