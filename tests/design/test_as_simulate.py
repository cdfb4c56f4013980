"""Without delay and looks, a trial of a design is a run of `simulate`, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from adhere import as_population
from adhere.policies import as_policy
from adhere.simulation.compiled_runner import CompiledRunner
from adhere.trial.design import Design

from .trials import play

N_PATIENTS, N_TRIALS, SEED = 60, 40, 11
GRID = (20, 45, N_PATIENTS)


# One draw for a whole patient, one for each of two arms, a population of its own for each run, three arms.
@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("thompson", "rich-and-poor"),
        ("thompson", "stroke-aspirin"),
        ("thompson/actual", "uniform-other"),
        ("floor(thompson, share=0.2, rule=clip)", "stroke-heparin"),
    ],
)
def test_trials_are_runs_of_simulate(policy: str, name: str) -> None:
    population = as_population(name)
    found = play(Design("same", policy, population.arms, N_PATIENTS), population, N_TRIALS, SEED, GRID)
    runner = CompiledRunner(as_policy(policy), population, N_PATIENTS, np.array(GRID))
    runner.prepare(lambda message: None)
    tables, counts = population.tables(SEED, 0, N_TRIALS), np.zeros((2, 1), np.int64)
    tallies = runner.start(SEED, range(N_TRIALS), tables, *counts)()
    assert found.over_time.tolist() == tallies.pulls.tolist()
    assert found.reward.tolist() == tallies.rewards[:, -1].tolist()
    assert found.baseline.tolist() == tallies.baselines[:, -1].tolist()
    assert found.chosen.tolist() == tallies.pulls[:, -1].tolist()
    assert (found.n.sum(axis=(1, 2)) == N_PATIENTS).all()
    assert found.sums.sum(axis=(1, 2)) == pytest.approx(found.reward)
