"""Runner that plays trials of one design on one population."""

from dataclasses import replace
from typing import Any

import numpy as np

from adhere.design.design import Design
from adhere.design.make_look_rules import look_rules
from adhere.errors import InputError
from adhere.evaluation.kernels.bets import Bets, NoBets
from adhere.evaluation.kernels.trial import PLAY_TRIALS, play_trials
from adhere.evaluation.kernels.workspace import Sizes, Workspace, allocation_of, blocks_size, conditions_of
from adhere.evaluation.outcomes import Floats, TrialOutcomes
from adhere.looks.judge import needs_wealth
from adhere.policies import as_policy
from adhere.policies.base.policy import TrialShape
from adhere.populations import PatientTables, Population
from adhere.simulation.execution.plan import Integers
from adhere.simulation.kernels.base_runner import BaseRunner, Make
from adhere.simulation.kernels.patients import Patients


class TrialRunner(BaseRunner[TrialOutcomes]):
    """Play trials of one design on one population, on processors or on a GPU.

    If the design declares lower outcomes better, an outcome y of the population is replaced by 1 − y before trials
    see it.

    `grid` has the numbers of patients at which allocation so far is recorded, in increasing order. With
    `true_effects` (by arm and view, NaN if unknown), the confidence sequence of each pair is computed too, and
    whether it covers the true effect. Without them, this code is not compiled.
    """

    function, loop, announcement = play_trials, PLAY_TRIALS, "compiling trials of"
    gpu_loop = "adhere.evaluation.kernels.gpu_entry:PLAY_TRIALS_ON_GPU"

    def __init__(
        self, design: Design, population: Population, grid: Integers, true_effects: Floats | None, device: str = "cpu"
    ) -> None:
        n_patients, n_arms = design.n_patients, len(design.arms)
        if n_patients is None:
            raise InputError("n_patients", None, "the largest number of patients, to simulate trials")
        self._lower_is_better = design.lower_is_better
        values = {*design.reward_values, *population.reward_values}
        values = {1.0 - value for value in values} if design.lower_is_better else values
        shape = TrialShape.of(design.arms, tuple(values))
        super().__init__(as_policy(design.policy), shape, population, n_patients, device)
        self._conditions = conditions_of(design, n_patients, grid)
        self._rules = look_rules(design)
        self._allocation = allocation_of(design)
        self._sizes = Sizes.of(self.policy, n_arms, blocks_size(self._allocation))
        self._has_bets = true_effects is not None or needs_wealth(self._rules)
        self._effects = np.zeros((0, 2)) if true_effects is None else np.array(true_effects, np.float64)

    def fixed_arguments(self, keys: Any, tables: PatientTables) -> tuple[Any, ...]:
        """Return the arguments of the compiled loop that precede the outcomes."""
        own = self.rule, self._sizes, self._conditions, self._allocation, self._rules, self.state
        return *own, keys, Patients.of(as_benefit(tables, self._lower_is_better))

    def workspace(self, n_lanes: int, make: Make) -> tuple[Workspace, Bets | NoBets]:
        """Allocate, with `make`, the arrays for `n_lanes` trials that are simulated side by side."""
        bets: Bets | NoBets = NoBets()
        if self._has_bets:
            control, n_arms = self._rules.control, self._sizes.arms.number
            bets = Bets.of(control, self._effects, n_arms, self.n_patients, n_lanes, make)
        return Workspace.of(self._sizes, self._conditions, n_lanes, make), bets

    def blank(self, n_runs: int) -> TrialOutcomes:
        """Return outcomes to be filled in."""
        return TrialOutcomes.zeros(n_runs, self._sizes.arms.number, len(self._conditions.grid))


def as_benefit(tables: PatientTables, lower_is_better: bool) -> PatientTables:
    """Return tables in which higher rewards are better; if lower is better, an outcome y becomes 1 − y."""
    return replace(tables, reward=1.0 - tables.reward, means=1.0 - tables.means) if lower_is_better else tables
