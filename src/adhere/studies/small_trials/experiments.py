"""The simulations of trials of twelve patients."""

from __future__ import annotations

from adhere.studies.framework.study import Experiment
from adhere.studies.lineup.entries import ALL, CHOSEN, LEARNERS, entry

# What a patient who does not comply takes, by the population that draws it.
READINGS = {"uniform-other": "the other arm", "uniform-any": "either arm", "uniform-corrective": "the better arm"}
PAPERS_RUNS = 1000

# Every policy under every reading, in two sizes; a learner's together, to compare them with its Chosen.
# Patients depend on the seed, the simulation and the population alone: those of different learners meet the same.
EXPERIMENTS = {
    f"{learner}-{size}": Experiment(
        [one.policy for one in ALL if one.learner == learner],
        tuple(READINGS),
        n_patients=12,
        n_runs=size,
        reference=entry(learner, CHOSEN).policy,
        grid=1,
    )
    for size in (PAPERS_RUNS, 100_000)
    for learner in LEARNERS
}
