"""The simulations of the stroke trial."""

from __future__ import annotations

from collections.abc import Mapping

from adhere.studies.framework.study import Experiment, runs
from adhere.studies.lineup.entries import ALL, CHOSEN, HEADLINES, THOMPSON, entry

ASPIRIN, HEPARIN = TRIALS = ("stroke-aspirin", "stroke-heparin")
N_PATIENTS, N_RUNS, N_RUNS_AGAIN = 10_000, 2000, 20_000


def plan_experiments(quick: bool) -> Mapping[str, Experiment]:
    """Every policy at the paper's size, and the headline policies in ten times as many runs."""
    thompson = entry(THOMPSON, CHOSEN).policy
    return {
        "all": Experiment(
            [one.policy for one in ALL], TRIALS, N_PATIENTS, runs(N_RUNS, quick), reference=thompson, pooled=True
        ),
        "again": Experiment(
            [one.policy for one in HEADLINES],
            TRIALS,
            N_PATIENTS,
            runs(N_RUNS_AGAIN, quick),
            reference=thompson,
            grid=1,
            pooled=True,
        ),
    }
