"""Run tasks of a plan: every policy over some blocks of runs, and what was measured in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import attrgetter

from adhere.errors import InputError
from adhere.policies import Policy
from adhere.populations import Population
from adhere.simulation.execution.compile_progress import prepare_all
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.kernel import Tallies
from adhere.simulation.kernels.policy_runner import PolicyRunner
from adhere.simulation.kernels.python_runner import PythonRunner
from adhere.simulation.measures.accumulate import TaskResult, add_blocks
from adhere.simulation.measures.measure import Columns, Floats, pooled_rows, rows_of_policies
from adhere.simulation.plan import MAX_BLOCK_SIZE, Integers, Plan, Task

_PATIENTS_PER_LAUNCH, _BYTES_PER_LAUNCH = 1 << 31, 1 << 26


class TaskRunner:
    """A plan with every policy made ready for every population."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.policy_runners = [
            [_named_runner(plan, policy, population) for policy in plan.policies] for population in plan.populations
        ]

    def blocks_at_once(self, n_threads: int) -> int:
        """A thread is given a single block; a GPU as many as its many threads need, if their tallies fit."""
        plan = self.plan
        if plan.device != "cuda":
            return 1
        numbers = sum(
            (len(plan.grid) + 1) * (plan.populations[index].n_arms + 2) + len(runner.deciders)
            for index in next(plan.blocks()).populations
            for runner in self.policy_runners[index]
        )
        runs = min(_BYTES_PER_LAUNCH // (8 * numbers), _PATIENTS_PER_LAUNCH // plan.n_patients)
        return max(1, runs // plan.block_size)

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Load tables, compile what is not compiled yet, and say of each how many there are."""
        prepare_all([runner for runners in self.policy_runners for runner in runners], announce)

    def run(self, task: Task, done: Integers, stop: Integers) -> TaskResult:
        """Run every policy over some blocks of runs; `done[0]` counts patients, a non-zero `stop[0]` ends it."""
        result: TaskResult = {}
        block_size = self.plan.block_size
        for populations, blocks in groupby(task, key=attrgetter("populations")):
            every_run = [block.runs for block in blocks]
            runs = range(every_run[0].start, every_run[-1].stop)
            tallied = self._tally(populations, runs, done, stop)
            # Not all at once: what is measured of some thousand runs at a time stays near the core.
            size = block_size * max(1, MAX_BLOCK_SIZE // block_size)
            for first in range(0, len(runs), size):
                rows = self._measure(tallied, slice(first, first + size))
                add_blocks(result, rows, self.plan, self._kept)
        return result

    def _kept(self, population: int) -> list[int]:
        """What is kept of each run on a population; what is pooled has no arms."""
        plan = self.plan
        n_arms = plan.populations[population].n_arms if population < len(plan.populations) else 0
        columns = Columns(len(plan.grid), n_arms)
        return plan.keep_runs * columns.final() + plan.keep_grid * columns.allocations()

    def _tally(
        self, populations: range, runs: range, done: Integers, stop: Integers
    ) -> dict[int, tuple[list[Tallies], Floats]]:
        """By population: what each policy left behind in some runs, and the mean reward of each arm."""
        plan, started = self.plan, {}
        for index in populations:
            tables = plan.populations[index].tables(plan.seed, runs.start, len(runs))
            waits = [runner.start(plan.seed, runs, tables, done, stop) for runner in self.policy_runners[index]]
            started[index] = waits, tables.means
        return {index: ([wait() for wait in waits], means) for index, (waits, means) in started.items()}

    def _measure(self, tallied: dict[int, tuple[list[Tallies], Floats]], runs: slice) -> dict[int, list[Floats]]:
        """What is measured in some of the runs, by population and policy; the pooled one comes last."""
        plan = self.plan
        rows = {
            index: rows_of_policies(
                [own.of_runs(runs) for own in tallies],
                means if len(means) == 1 else means[runs],
                plan.grid.astype(float),
                plan.reference,
            )
            for index, (tallies, means) in tallied.items()
        }
        if plan.pooled:
            by_policy = zip(*rows.values(), strict=True)
            rows[len(plan.populations)] = [
                pooled_rows(matrices, len(plan.grid), plan.n_patients) for matrices in by_policy
            ]
        return rows


def _named_runner(plan: Plan, policy: object, population: Population) -> PolicyRunner:
    """A runner; if there are several populations, an error names the population."""
    try:
        return _policy_runner(plan, policy, population)
    except InputError as error:
        raise error.within(population.name) if len(plan.populations) > 1 else error from None


def _policy_runner(plan: Plan, policy: object, population: Population) -> PolicyRunner:
    arguments = (population, plan.n_patients, plan.grid)
    if not isinstance(policy, Policy):
        return PythonRunner(policy, *arguments)
    if plan.device == "cuda":
        from adhere.simulation.kernels.gpu_runner import GpuRunner  # needs the extra `gpu`

        return GpuRunner(policy, *arguments)
    return CompiledRunner(policy, *arguments)
