"""Plan of an evaluation: every design in every scenario, and the tasks that simulate and measure its trials."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from adhere.design.design import Design
from adhere.design.planned_looks import planned_looks
from adhere.design.stopping_checks import why_not_exact
from adhere.errors import InputError
from adhere.evaluation.characteristics.measure import Distributions, measure_rows, most_cut
from adhere.evaluation.kernels.trial_runner import TrialRunner, as_benefit
from adhere.evaluation.outcomes import VIEWS, Columns, Floats, TrialOutcomes
from adhere.evaluation.scenarios.scenario import Scenario, Truth, truth_of
from adhere.simulation.execution.accumulate import Measured, TaskResult, some_runs
from adhere.simulation.execution.plan import MAX_BLOCK_SIZE, MIN_BLOCK_SIZE, Plan
from adhere.simulation.execution.task_runner import Played, TaskRunner
from adhere.simulation.measures.moments import Moments
from adhere.simulation.simulation_plan import grid_points

# The block means show how the estimates converge, so there are several tens of blocks.
_N_BLOCKS = 50
# A task should take a few tenths of a second, wherever it runs.
_PATIENTS_PER_TASK = 1 << 19
# A thread gets several small blocks at a time, but few enough that all threads have work until the end.
_PATIENTS_PER_TURN, _TURNS = 1 << 18, 4
_BYTES_PER_LAUNCH = 1 << 27


@dataclass(frozen=True)
class EvaluationPlan(Plan):
    """All settings that determine the numbers of an evaluation. The first design is the reference."""

    designs: tuple[Design, ...]
    scenarios: tuple[Scenario, ...]
    n_runs: int  # trials of each design in each scenario
    seed: int
    device: str = "cpu"
    keep_trials: bool = False

    max_blocks: ClassVar[int] = 100

    @property
    def n_scenarios(self) -> int:
        """Number of scenarios."""
        return len(self.scenarios)

    @cached_property
    def columns(self) -> tuple[Columns, ...]:
        """Column layout of a trial's measures, for each design."""
        return tuple(
            Columns(len(design.arms), tuple(grid_points(None, max_patients(design)).tolist()), planned_looks(design))
            for design in self.designs
        )

    @property
    def patients_per_run(self) -> int:
        """Maximum number of patients in one trial of each design, summed over designs."""
        return sum(map(max_patients, self.designs))

    @property
    def block_size(self) -> int:
        """Number of trials of every block except the last."""
        return min(MAX_BLOCK_SIZE, max(MIN_BLOCK_SIZE, -(-self.n_runs // _N_BLOCKS)))

    @property
    def blocks_per_task(self) -> int:
        """Number of blocks to send to a worker at once."""
        return max(1, _PATIENTS_PER_TASK // (self.block_size * self.patients_per_run))

    @property
    def bytes_per_trial(self) -> int:
        """Size in bytes of the outcomes of one trial of each design, summed over designs."""
        return sum(
            array.nbytes
            for columns in self.columns
            for array in TrialOutcomes.zeros(1, columns.n_arms, len(columns.grid))
        )


def max_patients(design: Design) -> int:
    """Return the number of patients in a trial of the design that does not stop early."""
    if design.n_patients is None:
        expected = "the largest number of patients of a trial, to simulate it"
        raise InputError(f"n_patients of {design.name}", None, expected)
    return design.n_patients


class EvaluationRunner(TaskRunner[EvaluationPlan]):
    """Plan with every design compiled for every scenario."""

    start_all_at_once = False

    def __init__(self, plan: EvaluationPlan) -> None:
        super().__init__(plan)
        self._most_cut = [most_cut(design) for design in plan.designs]
        self.truths = [
            [truth_of(scenario, _control(design), design.lower_is_better) for design in plan.designs]
            for scenario in plan.scenarios
        ]
        self.runners = [
            [
                TrialRunner(design, scenario.population, np.array(columns.grid), _effects(design, truth), plan.device)
                for design, columns, truth in zip(plan.designs, plan.columns, truths, strict=True)
            ]
            for scenario, truths in zip(plan.scenarios, self.truths, strict=True)
        ]

    def blocks_at_once(self, n_threads: int) -> int:
        """Return a number of blocks that makes start-up costs negligible; for a GPU, as many as fit into memory."""
        plan = self.plan
        if plan.device == "cuda":
            return max(1, _BYTES_PER_LAUNCH // (plan.block_size * plan.bytes_per_trial))
        per_block = plan.block_size * plan.patients_per_run
        return max(1, min(_PATIENTS_PER_TURN // per_block, plan.n_blocks // (_TURNS * n_threads)))

    def measure(self, played: dict[int, Played], runs: slice, result: TaskResult) -> None:
        """Add the measurements of a range of trials, by scenario and design."""
        plan = self.plan
        for scenario, (outcomes, tables) in played.items():
            means = as_benefit(tables, plan.designs[0].lower_is_better).means  # all designs have the same direction
            means = means if len(means) == 1 else means[runs]
            own = [some_runs(one, runs) for one in outcomes]
            parts = zip(own, self.truths[scenario], plan.columns, self._most_cut, strict=True)
            rows = [measure_rows(one, truth, columns, means, n_cut) for one, truth, columns, n_cut in parts]
            for design in range(len(plan.designs)):
                result.append(((scenario, design), measured(plan, design, own[design], rows[design], rows[0])))


def measured(
    plan: EvaluationPlan, design: int, outcomes: TrialOutcomes, rows: Floats, reference_rows: Floats
) -> Measured:
    """Return the measurements of complete blocks of trials, given rows of a design and of the reference design.

    Differences are computed for the columns that both designs have. The reference design has no differences.
    """
    size, columns = plan.block_size, plan.columns[design]
    shared = slice(columns.n_shared)
    return Measured(
        Moments.of_blocks(rows, size),
        Moments.of_blocks(rows[:, shared] - reference_rows[:, shared], size) if design else [],
        Distributions.of(outcomes, rows, columns, max_patients(plan.designs[design])),
        outcomes if plan.keep_trials else some_runs(outcomes, slice(0)),
    )


def _control(design: Design) -> int | None:
    return None if design.control is None else design.arms.index(design.control)


def _effects(design: Design, truth: Truth) -> Floats | None:
    """Return the true effects of the reported estimands; None without estimands or confidence sequences."""
    asked_for = [view in design.estimands for view in VIEWS]
    return np.where(asked_for, truth.effects, np.nan) if any(asked_for) and not why_not_exact(design) else None
