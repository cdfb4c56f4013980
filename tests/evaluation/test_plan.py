"""How an evaluation is cut up: every trial of every scenario once, in an order that depends on the plan alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from adhere import InputError
from adhere.design.design import Design
from adhere.evaluation.evaluation_plan import EvaluationPlan
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.populations import defiers, homogeneous
from adhere.simulation.execution.accumulate import add_blocks
from adhere.simulation.measures.moments import Moments

SCENARIOS = (Scenario("one", defiers()), Scenario("other", homogeneous(), null="sharp"))
ADAPTIVE = Design("adaptive", "thompson", defiers().arms, 300)
MAX_BLOCKS = EvaluationPlan.max_blocks
EQUAL = Design("equal", "uniform", defiers().arms, 200)


def plan_of(n_trials: int) -> EvaluationPlan:
    return EvaluationPlan((ADAPTIVE, EQUAL), SCENARIOS, n_trials, 7)


@pytest.mark.parametrize("n_trials", [1, 17, 10_000, 300_001])
@pytest.mark.parametrize("blocks_per_task", [1, 7, 1000])
def test_every_trial_is_in_one_task(n_trials: int, blocks_per_task: int) -> None:
    plan = plan_of(n_trials)
    tasks = list(plan.tasks(blocks_per_task))
    blocks = [block for task in tasks for block in task]
    assert blocks == list(plan.blocks())
    assert len(blocks) == plan.n_blocks
    for scenario in range(len(SCENARIOS)):
        runs = [block.runs for block in blocks if block.scenarios == range(scenario, scenario + 1)]
        assert [run.start for run in runs[1:]] == [run.stop for run in runs[:-1]]
        assert (runs[0].start, runs[-1].stop) == (0, n_trials)
    assert sum(map(plan.patients_in, tasks)) == plan.total_patients == n_trials * 2 * 500


def test_there_are_some_fifty_blocks_that_are_neither_tiny_nor_large() -> None:
    assert [plan_of(n).block_size for n in (1, 1000, 10_000, 10**6)] == [16, 20, 200, 4096]


def test_a_plan_travels() -> None:
    plan = plan_of(100)
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_a_design_without_a_size_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"^n_patients of endless: got None, expected the largest number of patients"
    ):
        EvaluationPlan((Design("endless", "thompson", ("a", "b")),), SCENARIOS, 10, 0).total_patients  # noqa: B018


@pytest.mark.parametrize("n_blocks", [1, 99, 100, 101, 250, 1001])
def test_many_blocks_become_few_of_one_size_and_lose_no_trial(n_blocks: int) -> None:
    rows = np.random.default_rng(3).random((n_blocks * 4 - 1, 2))
    blocks = Moments.of_blocks(rows, 4)
    kept: list[Moments] = []
    add_blocks(kept, blocks, MAX_BLOCKS)
    one_by_one: list[Moments] = []
    for block in blocks:
        add_blocks(one_by_one, [block], MAX_BLOCKS)
    assert kept == one_by_one
    assert len(kept) <= MAX_BLOCKS
    sizes = [block.n for block in kept]
    assert sum(sizes) == len(rows)
    assert len(set(sizes[:-1])) <= 1
    assert sizes[-1] <= sizes[0]
    first = rows[: kept[0].n]
    np.testing.assert_allclose(kept[0].mean, first.mean(axis=0))
    np.testing.assert_allclose(kept[0].deviations, ((first - first.mean(axis=0)) ** 2).sum(axis=0))
