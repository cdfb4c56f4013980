"""Figures 1 and 3 of the paper again, with other policies."""

from __future__ import annotations

from adhere.studies.framework.study import Experiment
from adhere.studies.past_the_paper.entries import ANY_HORIZON, SMALL, THOMPSON
from adhere.studies.small_trials.experiments import READINGS
from adhere.studies.stroke_trial.experiments import TRIALS

OPTIMUM_READING = "uniform-other"  # the prior for which the optimum is computed
SMALL_PATIENTS = 12
# Half as many runs of the stroke trial as in the paper: most differences here are larger than those there.
EXPERIMENTS = {
    "stroke": Experiment([one.policy for one in ANY_HORIZON], TRIALS, 10_000, 1000, THOMPSON.policy, pooled=True),
    "small": Experiment(
        [one.policy for one in SMALL], tuple(READINGS), SMALL_PATIENTS, 100_000, THOMPSON.policy, grid=1
    ),
}
