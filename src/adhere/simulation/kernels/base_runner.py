"""Base of the compiled runners: compile the loop over trials of one policy, and run it on processors or on a GPU."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from pkgutil import resolve_name
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from adhere.compilation import Kernel, classes_of
from adhere.compilation.compile_errors import return_place
from adhere.compilation.policy_failures import Loop, explain_failure, policy_error
from adhere.compilation.static import type_for
from adhere.compilation.storage import cache_folder
from adhere.errors import CompileError
from adhere.policies import Policy
from adhere.policies.base.policy import TrialShape
from adhere.policies.tables.table_cache import announcing, postponing
from adhere.populations import PatientTables, Population
from adhere.randomness import stream_keys
from adhere.simulation.execution.plan import Integers
from adhere.simulation.execution.task_runner import Runner
from adhere.simulation.kernels import NO_FAULT

Make: TypeAlias = Callable[..., Any]  # creates an array of a given shape and type
Outcomes = TypeVar("Outcomes", bound=tuple[Any, ...])


class BaseRunner(Runner, ABC, Generic[Outcomes]):
    """Base of runners that play trials on processors or a GPU, with the same rules, patients and random numbers."""

    function: ClassVar[Callable[..., int]]  # the loop; its variable `t` counts patients
    loop: ClassVar[Kernel]  # the loop, to be compiled for each composition
    gpu_loop: ClassVar[str]  # the loop for a GPU, as `module:name`; importing it needs the extra `gpu`
    announcement: ClassVar[str]  # message before compiling it for a policy

    def __init__(
        self, policy: Policy, shape: TrialShape, population: Population, n_patients: int, device: str
    ) -> None:
        self.given, self.population, self.n_patients = policy, population, n_patients
        resolved = policy.resolved(shape.n_arms, n_patients)
        self._assemble = partial(resolved.assemble, shape)
        with postponing() as later:
            self.policy = self._assemble()
        self._lacks_tables = bool(later)
        self.resolved, self._n_arms = str(resolved), shape.n_arms
        self.rule, self.state = self.policy.rule, self.policy.state
        self._is_on_gpu = device == "cuda"
        self.kernel: Any = None

    @abstractmethod
    def fixed_arguments(self, keys: Any, tables: PatientTables) -> tuple[Any, ...]:
        """Return the loop's arguments up to the outcomes."""

    @abstractmethod
    def workspace(self, n_lanes: int, make: Make) -> tuple[Any, ...]:
        """Return the workspace of parallel trials; `make` creates the arrays that have a column for each lane."""

    @abstractmethod
    def blank(self, n_runs: int) -> Outcomes:
        """Return empty outcomes to be filled in."""

    @property
    def _loop(self) -> Any:
        return resolve_name(self.gpu_loop) if self._is_on_gpu else self.loop

    def _example(self) -> Any:
        """Return arguments of the right types, for zero trials."""
        fixed = self.fixed_arguments(stream_keys(0, 0, 0), self.population.tables(0, 0, 1))
        counts = np.zeros((3, 1), np.int64)
        last = counts if self._is_on_gpu else (*counts[:2], 0, 1)
        return *fixed, self.blank(0), *self.workspace(1, np.zeros), *last

    def to_compile(self) -> object:
        """Return a key of the code that must still be compiled, shared by runners that share the code, or None."""
        example = self._example()
        return None if self._loop.ready(*example) else tuple(map(type_for(self.rule), example))

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load or compute the tables that the rule looks up values in."""
        if self._lacks_tables:
            with announcing(announce):
                self.rule = self._assemble().rule
            self._lacks_tables = False

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile the loop, or load it if it was compiled earlier. A compilation is announced."""
        self.load_tables(announce)
        loop, example = self._loop, self._example()
        if not loop.ready(*example):
            if cache_folder(frozenset(classes_of(self.rule)), loop.module) is None:
                reason = "its code is not in a file of its own, or no cache folder can be written"
                warnings.warn(f"{self.resolved} is compiled anew each time: {reason}", stacklevel=2)
            announce(f"{self.announcement} {self.resolved}{' for the GPU' if self._is_on_gpu else ''}")
        self.kernel = loop.compiled(*example)

    def why_it_allocates(self) -> CompileError | None:
        """Return the reason why the loop needs run-time memory, which a GPU lacks, or None if it does not."""
        return self.loop.why_it_allocates(*self._example())

    def start(
        self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers
    ) -> Callable[[], Outcomes]:
        """Start some runs, and return a function that waits for them and returns their outcomes.

        `done[0]` counts patients; a non-zero `stop[0]` ends the runs.
        """
        fixed = self.fixed_arguments(stream_keys(seed, runs.start, len(runs)), tables)
        outcomes = self.blank(len(runs))
        if self._is_on_gpu:
            return self._launch(fixed, outcomes, done, stop)
        error, fault = None, None
        try:
            fault = self.kernel(*fixed, outcomes, *self.workspace(1, np.zeros), done, stop, 0, 1)
        except Exception as raised:
            error = raised
        if fault != NO_FAULT:
            raise explain_failure(self._failing_loop(seed), runs, error, stop) from None
        return lambda: outcomes

    def _launch(self, fixed: Any, outcomes: Outcomes, done: Integers, stop: Integers) -> Callable[[], Outcomes]:
        from adhere.simulation.kernels.gpu_launch import launch

        if stop[0] or len(outcomes[0]) == 0:
            return lambda: outcomes
        wait = launch(self.kernel, self._rule_on_gpu, fixed[1:], outcomes, self.workspace, NO_FAULT)

        def finish() -> Outcomes:
            if (arm := wait()) != NO_FAULT:
                place = return_place(classes_of(self.rule))
                raise policy_error(self.resolved, place, None, arm, self._n_arms)
            done[0] += len(outcomes[0]) * self.n_patients
            return outcomes

        return finish

    @cached_property
    def _rule_on_gpu(self) -> Any:
        """The rule, copied to the GPU once for all blocks of runs, since its tables may be large."""
        from adhere.simulation.kernels.gpu_launch import on_gpu

        return on_gpu(self.rule)

    def _failing_loop(self, seed: int) -> Loop:
        """Return the loop for playing a single run, to find out what made it fail."""

        def arguments(run: int, stop: Integers) -> Any:
            fixed = self.fixed_arguments(stream_keys(seed, run, 1), self.population.tables(seed, run, 1))
            return *fixed, self.blank(1), *self.workspace(1, np.zeros), np.zeros(1, np.int64), stop, 0, 1

        whose = self.resolved, self.rule, self.population.name, self._n_arms
        return Loop(*whose, type(self).function, self.kernel, arguments, NO_FAULT)
