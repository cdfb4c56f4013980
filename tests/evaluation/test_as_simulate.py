"""Without delay and looks, a trial of a design is a run of `simulate`, to the bit."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from adhere import as_population
from adhere.design.design import Design
from adhere.design.parts import Stopping
from adhere.policies import as_policy
from adhere.simulation.kernels.compiled_runner import CompiledRunner

from .trials import play

N_PATIENTS, N_TRIALS, SEED = 60, 10, 11
GRID = (20, 45, N_PATIENTS)


# One draw for a whole patient, one for each of two arms, a population of its own for each run, a draw for three arms;
# the first three share the kernel of other tests.
@pytest.mark.parametrize(
    ("policy", "name", "is_compiled"),
    [
        ("thompson", "rich-and-poor", True),
        ("thompson/actual", "stroke-aspirin", True),
        ("thompson", "uniform-other", True),
        ("floor(exp3(gamma=0.2), share=0.2)", "stroke-heparin", False),
    ],
)
def test_trials_are_runs_of_simulate(
    policy: str, name: str, is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    population, stopping = as_population(name), Stopping("posterior")  # without thresholds nothing is decided
    design, n = Design("same", policy, population.arms, N_PATIENTS, stopping=stopping), N_TRIALS
    runner = CompiledRunner(as_policy(policy), population, N_PATIENTS, np.array(GRID))
    with monkeypatch.context() as patched, np.errstate(over="ignore"):
        patched.setattr(numba.config, "DISABLE_JIT", not is_compiled)
        found = play(design, population, n, SEED, GRID, np.zeros((population.n_arms, 2)))
        runner.prepare(lambda message: None)
        tallies = runner.start(SEED, range(n), population.tables(SEED, 0, n), *np.zeros((2, 1), np.int64))()
    assert found.over_time.tolist() == tallies.pulls.tolist()
    assert found.reward.tolist() == tallies.rewards[:, -1].tolist()
    assert found.baseline.tolist() == tallies.baselines[:, -1].tolist()
    assert found.chosen.tolist() == tallies.pulls[:, -1].tolist()
    assert (found.n.sum(axis=(1, 2)) == N_PATIENTS).all()
    assert found.sums.sum(axis=(1, 2)) == pytest.approx(found.reward)
    assert found.n_looks.tolist() == [1] * n
