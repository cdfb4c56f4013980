"""What runs one policy over a block of runs: compiled code, or a loop over a plain Python object."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import cache_folder, classes_of, static_type
from adhere.errors import InputError
from adhere.policies import Policy
from adhere.policies.policy import TrialShape
from adhere.populations import PatientTables, Population
from adhere.randomness import PYTHON, STREAM_SIZE, stream_keys, uniforms
from adhere.simulation.drawing import Arms, Patients
from adhere.simulation.kernel import NO_FAULT, RUN_BLOCK, Room, Sizes, Tallies

Integers = NDArray[np.int64]


class Runner(Protocol):
    """Runs one policy on one population."""

    resolved: str
    deciders: tuple[str, ...]

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first block."""

    def start(
        self,
        seed: int,
        first_run: int,
        tables: PatientTables,
        tallies: Tallies,
        progress: Integers,
        stop: Integers,
    ) -> Callable[[], None]:
        """Start to fill the tallies of consecutive runs; what is returned waits until they are filled."""


class CompiledRunner:
    """Runs a policy's compiled form."""

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
        rule, *others = self._example()
        return RUN_BLOCK.ready(rule, *others)

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""
        rule, *others = self._example()
        if not RUN_BLOCK.ready(rule, *others):
            if cache_folder(frozenset(classes_of(rule))) is None:
                reason = "its code is not in a file of its own, or no cache folder can be written"
                message = f"{self.resolved} is compiled anew each time: {reason}"
                warnings.warn(message, stacklevel=2)
            announce(f"compiling {self.resolved} (once; then it is kept on disk)")
        self.kernel = RUN_BLOCK.compiled(rule, *others)

    def _example(self) -> tuple[Any, ...]:
        """Arguments of the right types, for a block of no runs."""
        tables = self._population.tables(0, 0, 1)
        tallies = Tallies.zeros(0, len(self._grid), self._population.n_arms, len(self.deciders))
        return self._arguments(0, 0, tables, tallies, np.zeros(1, np.int64), np.zeros(1, np.int64))

    def _arguments(
        self,
        seed: int,
        first_run: int,
        tables: PatientTables,
        tallies: Tallies,
        progress: Integers,
        stop: Integers,
    ) -> tuple[Any, ...]:
        assembled = self._assembled
        n_arms = self._population.n_arms
        memo_size = assembled.memo_size + assembled.scratch_size
        sizes = Sizes(assembled.state.size, memo_size, STREAM_SIZE, Arms(n_arms), len(self.deciders))
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
            progress,
            stop,
        )

    def start(
        self,
        seed: int,
        first_run: int,
        tables: PatientTables,
        tallies: Tallies,
        progress: Integers,
        stop: Integers,
    ) -> Callable[[], None]:
        """Run the compiled loop, all of it; it lets other threads work meanwhile."""
        fault = self.kernel(*self._arguments(seed, first_run, tables, tallies, progress, stop))
        if fault != NO_FAULT:
            raise wrong_arm(self.resolved, fault, self._population.n_arms)
        return _nothing_to_wait_for


class PythonRunner:
    """Runs a plain object with `choose` and `update`, copied afresh for each run.

    `choose()` or `choose(rng)` returns an arm number; `update(chosen, actual, reward)` learns. `rng` is a NumPy
    generator of the run's own.
    """

    def __init__(self, policy: object, population: Population, n_patients: int, grid: Integers, n_last: int) -> None:
        for method in ("choose", "update"):
            if not callable(getattr(policy, method, None)):
                expected = "a policy, its text, or an object with the methods choose and update"
                raise InputError("policy", policy, expected)
        self._policy, self._population = policy, population
        self._takes_rng = len(inspect.signature(policy.choose).parameters) > 0  # type: ignore[attr-defined]
        self.resolved = name_of(policy)
        self.deciders: tuple[str, ...] = (self.resolved,)
        self._n_patients, self._grid, self._n_last = n_patients, grid, n_last

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Nothing is compiled."""

    def start(
        self,
        seed: int,
        first_run: int,
        tables: PatientTables,
        tallies: Tallies,
        progress: Integers,
        stop: Integers,
    ) -> Callable[[], None]:
        """Play every run, patient by patient, with the patients every other policy meets."""
        for row in range(len(tallies.rewards)):
            run = first_run + row
            patients = self._population.patients(seed, run, self._n_patients)
            own = copy.deepcopy(self._policy)
            first = uniforms(stream_keys(seed, run, 1), np.zeros(1, np.int64), PYTHON)[0, 0]
            rng = np.random.default_rng(int(first * 2**53))
            arguments = (rng,) if self._takes_rng else ()
            chosen = np.empty(self._n_patients, np.int64)
            for t in range(self._n_patients):
                if stop[0]:
                    return _nothing_to_wait_for
                arm = self._checked(own.choose(*arguments))  # type: ignore[attr-defined]
                chosen[t] = arm
                actual, reward = int(patients.actual[t, arm]), float(patients.reward[t, arm])
                own.update(arm, actual, reward)  # type: ignore[attr-defined]
                progress[0] += 1
            self._tally(row, chosen, patients.reward, tallies)
        return _nothing_to_wait_for

    def _checked(self, arm: object) -> int:
        n_arms = self._population.n_arms
        is_number = isinstance(arm, (int, np.integer)) and not isinstance(arm, bool)
        if not is_number or not 0 <= int(arm) < n_arms:  # type: ignore[call-overload]
            raise wrong_arm(self.resolved, arm, n_arms)
        return int(arm)  # type: ignore[call-overload, no-any-return]

    def _tally(self, row: int, chosen: Integers, rewards: NDArray[np.float64], tallies: Tallies) -> None:
        pulled = chosen[:, None] == np.arange(self._population.n_arms)
        upto = self._grid - 1
        tallies.pulls[row] = pulled.cumsum(axis=0)[upto]
        tallies.rewards[row] = rewards[pulled].cumsum()[upto]
        tallies.baselines[row] = rewards.mean(axis=1).cumsum()[upto]
        tallies.decisions[row] = self._n_patients
        tallies.last_pulls[row] = pulled[self._n_patients - self._n_last :].sum(axis=0)


def _nothing_to_wait_for() -> None:
    """What `start` returns when all is done."""


def wrong_arm(policy: str, arm: object, n_arms: int) -> InputError:
    """What to say of a policy that picks an arm that does not exist."""
    return InputError(f"arm chosen by {policy}", arm, f"a whole number from 0 to {n_arms - 1}")


def name_of(policy: object) -> str:
    """What a result calls a policy."""
    return str(policy) if isinstance(policy, Policy) else str(getattr(policy, "name", type(policy).__name__))
