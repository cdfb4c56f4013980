"""The simulations of rich and poor patients and of defiers."""

from __future__ import annotations

from adhere.studies.framework.study import Experiment
from adhere.studies.lineup.entries import ALL, CHOSEN, THOMPSON, entry

RICH_AND_POOR, DEFIERS = "rich-and-poor", "defiers"
_REFERENCE = entry(THOMPSON, CHOSEN).policy
# Every policy on both populations, at the size of Figure 2.
EXPERIMENTS = {
    "all": Experiment(
        [one.policy for one in ALL], (RICH_AND_POOR, DEFIERS), n_patients=10_000, n_runs=1000, reference=_REFERENCE
    )
}
