"""How a simulation is cut up: every run of every population once, in an order that depends on the plan alone."""

from __future__ import annotations

import pytest

from adhere.policies import parse_policy
from adhere.populations import defiers, homogeneous, rich_and_poor
from adhere.simulation.simulation_plan import SimulationPlan, grid_points

POPULATIONS = (defiers(), rich_and_poor(), homogeneous())


def plan_of(n_patients: int, n_runs: int, pooled: bool = False) -> SimulationPlan:
    policies = (parse_policy("thompson"), parse_policy("ucb1"))
    return SimulationPlan(policies, POPULATIONS, 0, n_patients, n_runs, 0, grid_points(None, n_patients), pooled)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize(("n_patients", "n_runs"), [(1, 1), (1000, 9000), (10**6, 100), (20, 4097)])
@pytest.mark.parametrize("blocks_per_task", [1, 3, 1000])
def test_every_run_is_in_one_task(n_patients: int, n_runs: int, pooled: bool, blocks_per_task: int) -> None:
    plan = plan_of(n_patients, n_runs, pooled)
    tasks = list(plan.tasks(blocks_per_task))
    runs = [(index, run) for task in tasks for block in task for index in block.scenarios for run in block.runs]
    assert len(runs) == len(set(runs)) == len(POPULATIONS) * n_runs
    assert sum(map(plan.patients_in, tasks)) == plan.total_patients
    assert [block for task in tasks for block in task] == list(plan.blocks())


def test_populations_that_are_pooled_share_their_blocks() -> None:
    assert {len(block.scenarios) for block in plan_of(1000, 9000, pooled=True).blocks()} == {len(POPULATIONS)}
    assert {len(block.scenarios) for block in plan_of(1000, 9000).blocks()} == {1}


def test_blocks_are_no_longer_than_fits_and_no_shorter_than_pays() -> None:
    assert [plan_of(n, 10**6).block_size for n in (1, 1000, 10**6, 10**9)] == [4096, 1048, 16, 16]
