"""Run tasks of a plan: every design over some blocks of trials, and what was measured of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import groupby
from operator import attrgetter
from threading import BoundedSemaphore

import numpy as np

from adhere.design.design import Design
from adhere.design.exact_probabilities import why_not_exact
from adhere.evaluation.accumulate import TaskResult, bytes_per_trial, found_in
from adhere.evaluation.characteristics.measure import measure_rows, most_cut
from adhere.evaluation.characteristics.outcomes import VIEWS, Floats, TrialOutcomes
from adhere.evaluation.kernels.trial_runner import TrialRunner, as_benefit
from adhere.evaluation.plan import DesignPlan, Task, max_patients
from adhere.evaluation.scenarios.truth import Truth, truth_of
from adhere.populations import PatientTables
from adhere.simulation.execution.compile_progress import prepare_all
from adhere.simulation.plan import MAX_BLOCK_SIZE, Integers

# A thread is given several small blocks at a time, but so few that all threads have work to the end.
_PATIENTS_PER_TURN, _TURNS = 1 << 18, 4
# A GPU is given many trials at a time, and works in much memory for each launch: while one runs, the next is begun.
_BYTES_PER_LAUNCH, _LAUNCHES = 1 << 27, 2


class DesignRunner:
    """A plan with every design made ready for every scenario."""

    def __init__(self, plan: DesignPlan) -> None:
        self.plan = plan
        self._launching = BoundedSemaphore(_LAUNCHES) if plan.device == "cuda" else nullcontext()
        self._most_cut = [most_cut(design) for design in plan.designs]
        self.truths = [
            [truth_of(scenario, _control(design), design.lower_is_better) for design in plan.designs]
            for scenario in plan.scenarios
        ]
        self.trial_runners = [
            [
                TrialRunner(design, scenario.population, np.array(columns.grid), _effects(design, truth), plan.device)
                for design, columns, truth in zip(plan.designs, plan.columns, truths, strict=True)
            ]
            for scenario, truths in zip(plan.scenarios, self.truths, strict=True)
        ]

    def blocks_at_once(self, n_threads: int) -> int:
        """So many that starting them costs nothing; a GPU as many as its many threads need, if outcomes fit."""
        plan = self.plan
        if plan.device == "cuda":
            return max(1, _BYTES_PER_LAUNCH // (plan.block_size * bytes_per_trial(plan)))
        per_block = plan.block_size * plan.patients_per_trial
        return max(1, min(_PATIENTS_PER_TURN // per_block, plan.n_blocks // (_TURNS * n_threads)))

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Load tables, compile what is not compiled yet, and say of each how many there are."""
        prepare_all([runner for runners in self.trial_runners for runner in runners], announce)

    def run(self, task: Task, done: Integers, stop: Integers) -> TaskResult:
        """Run every design over some blocks of trials; `done[0]` counts patients, a non-zero `stop[0]` ends it."""
        result: TaskResult = {}
        plan = self.plan
        for scenario, blocks in groupby(task, key=attrgetter("scenario")):
            every_run = [block.runs for block in blocks]
            runs = range(every_run[0].start, every_run[-1].stop)
            tables = plan.scenarios[scenario].population.tables(plan.seed, runs.start, len(runs))
            with self._launching:
                outcomes = [
                    self._play(scenario, design, runs, tables, done, stop) for design in range(len(plan.designs))
                ]
            if stop[0]:  # not all trials were played, and nobody waits for them
                return result
            # Not all at once: what is measured of some thousand trials at a time stays near the core.
            size = plan.block_size * max(1, MAX_BLOCK_SIZE // plan.block_size)
            for first in range(0, len(runs), size):
                some = slice(first, first + size)
                means = as_benefit(tables, plan.lower_is_better).means
                means = means if len(means) == 1 else means[some]
                measured = [
                    (own := one.of_runs(some), measure_rows(own, truth, columns, means, n_cut))
                    for one, truth, columns, n_cut in zip(
                        outcomes, self.truths[scenario], plan.columns, self._most_cut, strict=True
                    )
                ]
                for design, (own, rows) in enumerate(measured):
                    found = found_in(plan, design, own, rows, measured[0][1])
                    result.setdefault((scenario, design), []).append(found)
        return result

    def _play(
        self, scenario: int, design: int, runs: range, tables: PatientTables, done: Integers, stop: Integers
    ) -> TrialOutcomes:
        """Play trials of a design; long ones on processors a part at a time, so that progress shows."""
        plan, runner = self.plan, self.trial_runners[scenario][design]
        size = max(1, _PATIENTS_PER_TURN // max_patients(plan.designs[design]))
        if plan.device == "cuda" or len(runs) <= size:
            return runner.start(plan.seed, runs, tables, done, stop)()
        population = plan.scenarios[scenario].population
        parts = [runs[first : first + size] for first in range(0, len(runs), size)]
        played = [
            runner.start(plan.seed, part, population.tables(plan.seed, part.start, len(part)), done, stop)()
            for part in parts
        ]
        return TrialOutcomes._make(np.concatenate(arrays) for arrays in zip(*played, strict=True))


def _control(design: Design) -> int | None:
    return None if design.control is None else design.arms.index(design.control)


def _effects(design: Design, truth: Truth) -> Floats | None:
    """The true effects of the estimands to report; None if there are none, or no confidence sequence of them."""
    asked_for = [view in design.estimands for view in VIEWS]
    return np.where(asked_for, truth.effects, np.nan) if any(asked_for) and not why_not_exact(design) else None
