"""States too large for a stack: recycling keeps a count for each reward, and there may be one for each patient."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from adhere.populations import Counts
from contract.playing import play, run_of_engine, trial_on

RECYCLING = "hierarchical(thompson, recycle=true)"
MANY = """
import numpy as np
import adhere
rewards = np.random.default_rng(0).random(200_000)
rows = [("ab"[i % 2], "ab"[i // 2 % 2], float(reward)) for i, reward in enumerate(rewards)]
population = adhere.Counts("many", ("a", "b"), rows)
result = adhere.simulate("hierarchical(thompson, recycle=true)", population, 20, 2, n_threads=2, progress=False)
print(sum(share.mean for share in result[0].allocation.values()))
"""


def continuous(n_patients: int) -> Counts:
    """A population in which no two patients gain the same."""
    rewards = np.random.default_rng(1).random(n_patients)
    arms = ("a", "b")
    rows = [(arms[i % 2], arms[i // 2 % 2], float(reward)) for i, reward in enumerate(rewards)]
    return Counts("continuous", arms, rows)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_trial_picks_the_arms_of_the_engine_with_a_state_of_thousands_of_numbers() -> None:
    population = continuous(2000)
    trial = trial_on(RECYCLING, population, 200, seed=3, run=0)
    assert len(trial.state) > 8000
    played = play(trial, population.patients(3, 0, 200))
    assert np.array_equal(played, run_of_engine(RECYCLING, population, 200, 3, 0))


@pytest.mark.slow
def test_a_state_of_megabytes_is_no_crash() -> None:
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout) - 1.0) < 1e-12
