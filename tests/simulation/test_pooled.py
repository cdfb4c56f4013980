"""Means over several populations, taken run by run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adhere import InputError, simulate
from adhere.populations import stroke_aspirin, stroke_heparin
from adhere.simulation.measures.measure import measures

from .engine import tallies_of

POLICIES = ["thompson", "epsilon-greedy/actual", "hierarchical(epsilon-greedy)"]
TRIALS = [stroke_aspirin(), stroke_heparin()]
N_PATIENTS, N_RUNS = 400, 60


def surpluses(policy: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The final surplus, [trial, run]."""
    grid = np.array([N_PATIENTS])
    return np.array(
        [
            measures(tallies_of(policy, trial, N_PATIENTS, N_RUNS, 3, grid), trial.tables(3, 0, 1).means)[0][:, 0]
            for trial in TRIALS
        ]
    )


@pytest.mark.parametrize("n_threads", [1, 3])
def test_pooled_is_the_average_of_each_run(n_threads: int) -> None:
    result = simulate(POLICIES, TRIALS, N_PATIENTS, N_RUNS, seed=3, pooled=True, n_threads=n_threads)
    reference = surpluses(POLICIES[0]).mean(axis=0)
    for policy in POLICIES:
        outcome, runs = result["pooled", policy], surpluses(policy).mean(axis=0)
        assert outcome.surplus.mean == pytest.approx(runs.mean())
        assert outcome.surplus.se == pytest.approx(runs.std(ddof=1) / math.sqrt(N_RUNS))
        assert outcome.difference().mean == pytest.approx((runs - reference).mean())
        assert outcome.worse_than_randomisation.mean == pytest.approx((runs < 0).mean())
        middle = np.sort(runs)[N_RUNS // 2 - 1 : N_RUNS // 2 + 1]
        assert middle[0] - 0.01 <= outcome.quantile(0.5) <= middle[1] + 0.01
        assert outcome.allocation == {}


def test_pooling_changes_nothing_else() -> None:
    pooled = simulate(POLICIES, TRIALS, N_PATIENTS, N_RUNS, seed=3, pooled=True)
    alone = simulate(POLICIES, TRIALS, N_PATIENTS, N_RUNS, seed=3)
    assert pooled.outcomes[: len(alone.outcomes)] == alone.outcomes
    assert len(pooled.outcomes) == len(alone.outcomes) + len(POLICIES)


def test_pooled_results_are_saved_and_shown(tmp_path: object) -> None:
    from pathlib import Path

    from adhere import SimulationResult

    result = simulate(POLICIES, TRIALS, N_PATIENTS, N_RUNS, seed=3, pooled=True)
    result.save(Path(str(tmp_path)) / "kept")
    assert SimulationResult.load(Path(str(tmp_path)) / "kept") == result
    assert "pooled" in result.summary()


def test_one_population_cannot_be_pooled() -> None:
    with pytest.raises(InputError, match="pooled"):
        simulate("thompson", "defiers", 10, 2, pooled=True)
