"""Plan of a simulation: every policy on every population, and the runner that plays and measures it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.policies import Policy
from adhere.populations import Population
from adhere.simulation.execution.accumulate import Measured, TaskResult, some_runs
from adhere.simulation.execution.plan import MAX_BLOCK_SIZE, MIN_BLOCK_SIZE, Integers, Plan
from adhere.simulation.execution.task_runner import Played, TaskRunner
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.python_runner import PythonRunner
from adhere.simulation.measures.measure import (
    SURPLUSES,
    Columns,
    Floats,
    pooled_rows,
    rows_of_policies,
    without_rounding,
)
from adhere.simulation.measures.moments import Moments
from adhere.simulation.measures.quantiles import QuantileSketch

_DEFAULT_POINTS = 20
_PATIENTS_PER_BLOCK = 1 << 20
# A task that is sent to a worker should take a few tenths of a second: much longer than sending it, but short enough
# to show progress. Measuring a run takes as long as simulating some patients.
_PATIENTS_PER_TASK, _PATIENTS_PER_MEASURING = 1 << 23, 64
_PATIENTS_PER_LAUNCH, _BYTES_PER_LAUNCH = 1 << 31, 1 << 26


@dataclass(frozen=True)
class SimulationPlan(Plan):
    """Everything that decides the numbers of a simulation."""

    policies: tuple[object, ...]
    populations: tuple[Population, ...]
    reference: int
    n_patients: int
    n_runs: int
    seed: int
    grid: Integers
    pooled: bool
    device: str = "cpu"
    keep_runs: bool = False
    keep_grid: bool = False  # whether to store the arms' shares along the grid of each run

    max_blocks: ClassVar[int] = 1

    @property
    def n_scenarios(self) -> int:
        """Number of populations."""
        return len(self.populations)

    @property
    def scenarios_per_block(self) -> int:
        """Number of populations that are measured together: all of them if they are pooled."""
        return len(self.populations) if self.pooled else 1

    @property
    def patients_per_run(self) -> int:
        """Number of patients in one run of every policy."""
        return self.n_patients * len(self.policies)

    @property
    def block_size(self) -> int:
        """Number of runs of every block except the last."""
        return min(MAX_BLOCK_SIZE, max(MIN_BLOCK_SIZE, _PATIENTS_PER_BLOCK // self.n_patients))

    @property
    def blocks_per_task(self) -> int:
        """Number of blocks to send to a worker at once; 1 for plain Python, which takes seconds for a block."""
        if not all(isinstance(policy, Policy) for policy in self.policies):
            return 1
        first = next(self.blocks())
        per_run = len(self.policies) * (self.n_patients + _PATIENTS_PER_MEASURING)
        return max(1, _PATIENTS_PER_TASK // (len(first.scenarios) * len(first.runs) * per_run))

    def kept_columns(self, population: int) -> list[int]:
        """Return the columns that are stored for each run on a population; pooled runs have no arms."""
        n_arms = self.populations[population].n_arms if population < len(self.populations) else 0
        columns = Columns(len(self.grid), n_arms)
        return self.keep_runs * columns.final() + self.keep_grid * columns.allocations()


def grid_points(grid: int | Sequence[int] | None, n_patients: int) -> Integers:
    """Return the numbers of patients after which measures are recorded; the last one is the size of the trial."""
    if grid is None:
        grid = min(_DEFAULT_POINTS, n_patients)
    if isinstance(grid, (int, np.integer)):
        n_points = check_integer("grid", grid, 1, n_patients)
        return np.unique(np.linspace(n_patients / n_points, n_patients, n_points).round().astype(np.int64))
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InputError("grid", grid, "numbers of patients, or how many points to spread evenly")
    points = sorted({check_integer("grid", point, 1, n_patients) for point in grid} | {n_patients})
    return np.array(points, np.int64)


class SimulationRunner(TaskRunner[SimulationPlan]):
    """A plan with every policy prepared for every population."""

    start_all_at_once = True

    def __init__(self, plan: SimulationPlan) -> None:
        super().__init__(plan)
        self.runners: list[list[CompiledRunner | PythonRunner]] = [
            [_runner(plan, policy, population) for policy in plan.policies] for population in plan.populations
        ]

    def blocks_at_once(self, n_threads: int) -> int:
        """Return how many blocks are played at once: one per thread, or as many as a GPU can play and store."""
        plan = self.plan
        if plan.device != "cuda":
            return 1
        numbers = sum(
            (len(plan.grid) + 1) * (plan.populations[index].n_arms + 2) + len(runner.components)
            for index in next(plan.blocks()).scenarios
            for runner in self.runners[index]
        )
        runs = min(_BYTES_PER_LAUNCH // (8 * numbers), _PATIENTS_PER_LAUNCH // plan.n_patients)
        return max(1, runs // plan.block_size)

    def measure(self, played: dict[int, Played], runs: slice, result: TaskResult) -> None:
        """Add the measurements of some of the runs, by population and policy; the pooled population comes last."""
        plan, rows = self.plan, {}
        for index, (outcomes, tables) in played.items():
            tallies = [some_runs(one, runs) for one in outcomes]
            means = tables.means if len(tables.means) == 1 else tables.means[runs]
            rows[index] = rows_of_policies(tallies, means, plan.grid.astype(float), plan.reference)
        if plan.pooled:
            by_policy = zip(*rows.values(), strict=True)
            rows[len(plan.populations)] = [
                pooled_rows(matrices, len(plan.grid), plan.n_patients) for matrices in by_policy
            ]
        for population, matrices in rows.items():
            for policy, matrix in enumerate(matrices):
                result.append(((population, policy), _measured(plan, population, matrix)))


def _measured(plan: SimulationPlan, population: int, rows: Floats) -> Measured:
    """Return the measurements of one policy on one population, given a row for each run."""
    surplus = without_rounding(rows[:, len(plan.grid) - 1], plan.n_patients)
    kept = rows[:, plan.kept_columns(population)]
    if plan.keep_runs:
        kept[:, SURPLUSES] = without_rounding(kept[:, SURPLUSES], plan.n_patients)
    moments = Moments.of_blocks(rows, plan.block_size)
    n_kept = len(kept) if plan.keep_runs or plan.keep_grid else 0
    return Measured(moments, [], QuantileSketch.of(surplus), (kept[:n_kept],))


def _runner(plan: SimulationPlan, policy: object, population: Population) -> CompiledRunner | PythonRunner:
    """Return a runner. If there are several populations, an error names the population."""
    try:
        if isinstance(policy, Policy):
            return CompiledRunner(policy, population, plan.n_patients, plan.grid, plan.device)
        return PythonRunner(policy, population, plan.n_patients, plan.grid)
    except InputError as error:
        raise error.within(population.name) if len(plan.populations) > 1 else error from None
