"""Plays trials of one design on one population."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np

from adhere.compilation import classes_of
from adhere.compilation.static import type_for
from adhere.compilation.storage import cache_folder
from adhere.design.bets_kernel import Bets, NoBets
from adhere.design.kernel import NO_FAULT, RUN_TRIALS
from adhere.design.outcomes import Floats, TrialOutcomes
from adhere.design.room import Room, Sizes
from adhere.design.setting import allocation_of, setting_of
from adhere.errors import InputError
from adhere.policies import as_policy
from adhere.policies.kept_tables import announcing, postponing
from adhere.policies.policy import TrialShape
from adhere.populations import PatientTables, Population
from adhere.randomness import stream_keys
from adhere.simulation.patients import Patients
from adhere.simulation.plan import Integers
from adhere.trial.design import Design
from adhere.trial.look_rules import look_rules
from adhere.trial.looks import needs_wealth

Started: TypeAlias = Callable[[], TrialOutcomes]


class TrialRunner:
    """Plays trials of one design on one population, on processors: one trial after the other.

    `grid` has the numbers of patients at which allocation so far is noted, in increasing order. With `true_effects`
    (by arm and view, NaN where not known) the confidence sequence of each pair is computed too, and whether it has
    them; without, nothing of it is compiled.
    """

    loop: ClassVar[Any] = RUN_TRIALS  # to be compiled for each composition
    target: ClassVar[str] = ""

    def __init__(
        self, design: Design, population: Population, grid: Integers, true_effects: Floats | None
    ) -> None:
        n_patients, n_arms = design.horizon, len(design.arms)
        if n_patients is None:
            raise InputError("n_patients", None, "the largest number of patients, to simulate trials")
        self._population = population
        resolved = as_policy(design.policy).resolved(n_arms, n_patients)
        values = sorted({*design.reward_values, *population.reward_values})
        self._assemble = partial(resolved.assemble, TrialShape(n_arms, tuple(values)))
        with postponing() as later:
            assembled = self._assemble()
        self._lacks_tables = bool(later)
        self.resolved, self._rule, self._state = str(resolved), assembled.rule, assembled.state
        self._sizes = Sizes.of(assembled, n_arms, len(design.strata))
        self._setting = setting_of(design, n_patients, grid)
        self._rules = look_rules(design)
        may_drop = design.stopping is not None and n_arms > 2
        self._allocation = allocation_of(design, may_drop, self._sizes.out)
        self._bets_on = true_effects is not None or needs_wealth(self._rules)
        self._effects = np.zeros((0, 2)) if true_effects is None else np.array(true_effects, np.float64)
        self.kernel: Any = None

    @property
    def n_patients(self) -> int:
        """The largest number of patients."""
        return int(self._setting.n_patients)

    def is_ready(self) -> bool:
        """Whether nothing is left to compile."""
        return bool(self.loop.ready(*self._example()))

    def to_compile(self) -> object:
        """What is left to compile, the same for all that share it; None if nothing is."""
        if self.is_ready():
            return None
        type_of = type_for(self._rule)
        return tuple(type_of(one) for one in self._example())

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load the tables that the rule looks things up in, or compute them."""
        if self._lacks_tables:
            with announcing(announce):
                self._rule = self._assemble().rule
            self._lacks_tables = False

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load the tables that the policy looks things up in, or compute them."""
        raise NotImplementedError

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""
        self.load_tables(announce)
        example = self._example()
        if not self.loop.ready(*example):
            if cache_folder(frozenset(classes_of(self._rule))) is None:
                reason = "its code is not in a file of its own, or no cache folder can be written"
                warnings.warn(f"{self.resolved} is compiled anew each time: {reason}", stacklevel=2)
            announce(f"compiling trials of {self.resolved}{self.target}")
        self.kernel = self.loop.compiled(*example)

    def start(self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers) -> Started:
        """Play some trials, all of them; what is returned returns what they leave behind.

        `done[0]` counts the patients that trials may have; a non-zero `stop[0]` ends it. Other threads work meanwhile.
        """
        outcomes = self._blank(len(runs))
        fault = self.kernel(*self._arguments(seed, runs, tables, outcomes, 1), done, stop)
        if fault != NO_FAULT:
            raise self._wrong_arm(fault)
        return lambda: outcomes

    def _example(self) -> Any:
        """Arguments of the right types, for no trials."""
        counts = np.zeros((2, 1), np.int64)
        return (*self._arguments(0, range(0), self._population.tables(0, 0, 1), self._blank(0), 1), *counts)

    def _arguments(self, seed: int, runs: range, tables: PatientTables, outcomes: Any, n_lanes: int) -> Any:
        setting, keys = self._setting, stream_keys(seed, runs.start, len(runs))
        room = Room.of(self._sizes, setting, n_lanes)
        bets = self._bets(n_lanes)
        parts = self._rule, self._sizes, setting, self._allocation, self._rules, bets
        return *parts, self._state, keys, Patients.of(tables), outcomes, room

    def _bets(self, n_lanes: int) -> Bets | NoBets:
        if not self._bets_on:
            return NoBets()
        return Bets.of(self._rules.control, self._effects, self._sizes.arms.number, self.n_patients, n_lanes)

    def _blank(self, n_runs: int) -> TrialOutcomes:
        return TrialOutcomes.zeros(n_runs, self._sizes.arms.number, len(self._setting.grid))

    def _wrong_arm(self, arm: object) -> InputError:
        """What to say of a policy that picks an arm that does not exist."""
        expected = f"a whole number from 0 to {self._sizes.arms.number - 1}"
        return InputError(f"arm chosen by {self.resolved}", arm, expected)
