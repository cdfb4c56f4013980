"""The simulations of rich and poor patients and of defiers."""

from __future__ import annotations

from collections.abc import Mapping

from adhere.studies.framework.study import Experiment, runs
from adhere.studies.lineup.entries import ALL, CHOSEN, THOMPSON, entry

RICH_AND_POOR, DEFIERS = "rich-and-poor", "defiers"
N_PATIENTS, N_RUNS = 10_000, 1000


def plan_experiments(quick: bool) -> Mapping[str, Experiment]:
    """Every policy on both populations, at the size of Figure 2."""
    policies = [one.policy for one in ALL]
    reference = entry(THOMPSON, CHOSEN).policy
    populations = (RICH_AND_POOR, DEFIERS)
    return {"all": Experiment(policies, populations, N_PATIENTS, runs(N_RUNS, quick), reference=reference)}
