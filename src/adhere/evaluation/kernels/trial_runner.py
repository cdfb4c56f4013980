"""Plays trials of one design on one population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from adhere.compilation.policy_failures import Loop, explain_failure, wrong_arm
from adhere.compilation.static import type_for
from adhere.design.design import Design
from adhere.design.look_rules import look_rules
from adhere.errors import InputError
from adhere.evaluation.characteristics.outcomes import Floats, TrialOutcomes
from adhere.evaluation.kernels.bets import Bets, NoBets
from adhere.evaluation.kernels.trial import NO_FAULT, PLAY_TRIALS, play_trials
from adhere.evaluation.kernels.trial_shape import allocation_of, blocks_size, setting_of
from adhere.evaluation.kernels.workspace import Make, Room, Sizes
from adhere.looks.judge import needs_wealth
from adhere.policies import as_policy
from adhere.policies.base.policy import TrialShape
from adhere.policies.tables.table_cache import announcing, postponing
from adhere.populations import PatientTables, Population
from adhere.randomness import stream_keys
from adhere.simulation.execution.compile_progress import compiled_loop
from adhere.simulation.kernels.patients import Patients
from adhere.simulation.plan import Integers

Started: TypeAlias = Callable[[], TrialOutcomes]


class Device(Protocol):
    """What plays trials: processors, or a GPU."""

    kernel: Any  # to be compiled for each composition
    words: str  # which follow the name of a policy
    last: Any  # arguments of the kernel

    def start(self, runner: TrialRunner, fixed: Any, outcomes: TrialOutcomes, stop: Integers) -> Callable[[], int]:
        """Start trials that leave behind outcomes; what is returned waits for them, and returns a fault."""


class Processors:
    """One trial after the other; other threads play others."""

    kernel, words, last = PLAY_TRIALS, "", (np.zeros(1, np.int64), 0, 1)

    def start(self, runner: TrialRunner, fixed: Any, outcomes: TrialOutcomes, stop: Integers) -> Callable[[], int]:
        """Play them all, now."""
        fault = runner.compiled(*fixed, outcomes, *runner.room(1), stop, 0, 1)
        return lambda: fault


class TrialRunner:
    """Plays trials of one design on one population, on processors or on a GPU: the same rules and random numbers.

    If the design says that lower outcomes are better, an outcome y of the population becomes 1 − y before a trial
    meets it.

    `grid` has the numbers of patients at which allocation so far is noted, in increasing order. With `true_effects`
    (by arm and view, NaN where not known) the confidence sequence of each pair is computed too, and whether it has
    them; without, nothing of it is compiled.
    """

    def __init__(
        self, design: Design, population: Population, grid: Integers, true_effects: Floats | None, device: str = "cpu"
    ) -> None:
        n_patients, n_arms = design.n_patients, len(design.arms)
        if n_patients is None:
            raise InputError("n_patients", None, "the largest number of patients, to simulate trials")
        self.n_patients, self._population = n_patients, population
        resolved = as_policy(design.policy).resolved(n_arms, n_patients)
        self._lower_is_better = design.lower_is_better
        values = {*design.reward_values, *population.reward_values}
        values = {1.0 - value for value in values} if design.lower_is_better else values
        self._assemble = partial(resolved.assemble, TrialShape.of(design.arms, tuple(values)))
        with postponing() as later:
            assembled = self._assemble()
        self._lacks_tables = bool(later)
        self.resolved, self.rule, self._state = str(resolved), assembled.rule, assembled.state
        self._setting = setting_of(design, n_patients, grid)
        self._rules = look_rules(design)
        self._allocation = allocation_of(design)
        self._sizes = Sizes.of(assembled, n_arms, blocks_size(self._allocation))
        self._has_bets = true_effects is not None or needs_wealth(self._rules)
        self._effects = np.zeros((0, 2)) if true_effects is None else np.array(true_effects, np.float64)
        self._device = _device(device)
        self.compiled: Any = None

    def is_ready(self) -> bool:
        """Whether nothing is left to compile."""
        return bool(self._device.kernel.ready(*self._example()))

    def to_compile(self) -> object:
        """What is left to compile, the same for all that share it; None if nothing is."""
        return None if self.is_ready() else tuple(map(type_for(self.rule), self._example()))

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load the tables that the rule looks things up in, or compute them."""
        if self._lacks_tables:
            with announcing(announce):
                self.rule = self._assemble().rule
            self._lacks_tables = False

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""
        self.load_tables(announce)
        said = f"compiling trials of {self.resolved}{self._device.words}"
        self.compiled = compiled_loop(self._device.kernel, self._example(), self.rule, self.resolved, said, announce)

    def start(self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers) -> Started:
        """Start some trials; what is returned waits until they are through, and returns what they leave behind.

        `done[0]` counts the patients that trials may have; a non-zero `stop[0]` ends it.
        """
        fixed, outcomes = self._fixed(stream_keys(seed, runs.start, len(runs)), tables), self._blank(len(runs))
        try:
            wait = self._device.start(self, fixed, outcomes, stop)
        except Exception as error:
            raise explain_failure(self._loop(seed), runs, error, stop) from None

        def finish() -> TrialOutcomes:
            if (fault := wait()) != NO_FAULT:
                if isinstance(self._device, Processors):
                    raise explain_failure(self._loop(seed), runs, None, stop)
                raise wrong_arm(self.resolved, self.rule, fault, self._sizes.arms.number)
            done[0] += len(runs) * self.n_patients
            return outcomes

        return finish

    def _loop(self, seed: int) -> Loop:
        """The loop as processors play a single trial, to find out what made it fail."""

        def arguments(run: int, stop: Integers) -> Any:
            fixed = self._fixed(stream_keys(seed, run, 1), self._population.tables(seed, run, 1))
            return *fixed, self._blank(1), *self.room(1), stop, 0, 1

        whose = self.resolved, self.rule, self._population.name, self._sizes.arms.number
        return Loop(*whose, play_trials, self.compiled, arguments, NO_FAULT)

    def room(self, n_lanes: int, make: Make = np.zeros) -> tuple[Room, Bets | NoBets]:
        """What trials side by side work in, in arrays that `make` makes."""
        bets: Bets | NoBets = NoBets()
        if self._has_bets:
            control, n_arms = self._rules.control, self._sizes.arms.number
            bets = Bets.of(control, self._effects, n_arms, self.n_patients, n_lanes, make)
        return Room.of(self._sizes, self._setting, n_lanes, make), bets

    def _fixed(self, keys: Any, tables: PatientTables) -> Any:
        """What a kernel takes first."""
        own = self.rule, self._sizes, self._setting, self._allocation, self._rules, self._state
        return *own, keys, Patients.of(as_benefit(tables, self._lower_is_better))

    def _example(self) -> Any:
        """Arguments of the right types, for no trials."""
        fixed = self._fixed(stream_keys(0, 0, 0), self._population.tables(0, 0, 1))
        return *fixed, self._blank(0), *self.room(1), *self._device.last

    def _blank(self, n_runs: int) -> TrialOutcomes:
        return TrialOutcomes.zeros(n_runs, self._sizes.arms.number, len(self._setting.grid))


def as_benefit(tables: PatientTables, lower_is_better: bool) -> PatientTables:
    """Return tables whose rewards are better when higher: an outcome y as 1 − y if lower is better."""
    return replace(tables, reward=1.0 - tables.reward, means=1.0 - tables.means) if lower_is_better else tables


def _device(name: str) -> Device:
    if name != "cuda":
        return Processors()
    from adhere.evaluation.kernels.gpu_trials import Gpu  # which is there only where the extra is installed

    return Gpu()
