"""The simulations of the stroke trial."""

from __future__ import annotations

from dataclasses import replace

from adhere.studies.framework.study import Experiment
from adhere.studies.lineup.entries import ALL, CHOSEN, HEADLINES, THOMPSON, entry

ASPIRIN, HEPARIN = TRIALS = ("stroke-aspirin", "stroke-heparin")
# Every policy at the paper's size, and the headline policies in ten times as many runs.
_ALL = Experiment([one.policy for one in ALL], TRIALS, 10_000, 2000, entry(THOMPSON, CHOSEN).policy, pooled=True)
EXPERIMENTS = {
    "all": _ALL,
    "again": replace(_ALL, policies=[one.policy for one in HEADLINES], n_runs=20_000, grid=1),
}
