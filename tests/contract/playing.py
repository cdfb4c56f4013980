"""Ways to play a policy: the engine's arms, a live trial's arms, and trials that have seen some patients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adhere import Trial, simulate
from adhere.policies import PolicyLike
from adhere.populations import Population
from adhere.populations.population import CounterfactualPatients
from simulation.engine import tallies_of

Integers = NDArray[np.int64]


def first_run_of_engine(policy: PolicyLike, population: Population, n_patients: int, seed: int) -> Integers:
    """The arms `simulate` chose in its first run, from the shares of each arm after every patient."""
    every_patient = np.arange(1, n_patients + 1)
    result = simulate(policy, population, n_patients, 1, seed, grid=every_patient.tolist(), progress=False)[0]
    shares = np.stack([result.allocation_trajectory(arm).mean for arm in population.arms], axis=1)
    return _newest_pull((shares * every_patient[:, None]).round().astype(np.int64))


def run_of_engine(
    policy: object, population: Population, n_patients: int, seed: int, run: int, *, compiled: bool = True
) -> Integers:
    """The arms the engine chose in any run."""
    every_patient = np.arange(1, n_patients + 1)
    left = tallies_of(policy, population, n_patients, 1, seed, every_patient, first_run=run, compiled=compiled)
    return _newest_pull(left.pulls[0])


def _newest_pull(pulls: Integers) -> Integers:
    newest = np.diff(pulls, axis=0, prepend=0)
    assert (newest.sum(axis=1) == 1).all()
    arms: Integers = newest.argmax(axis=1)
    return arms


def trial_on(policy: PolicyLike, population: Population, n_patients: int, seed: int = 0, run: int = 0) -> Trial:
    """A live trial that will meet this population."""
    values = population.reward_values
    return Trial(policy, population.arms, seed, n_patients, run=run, reward_values=values)


def play(trial: Trial, patients: CounterfactualPatients) -> Integers:
    """Feed patients to a trial in order, with feedback at once; returns the arms it recommended."""
    chosen = []
    for actual, reward in zip(patients.actual, patients.reward, strict=True):
        recommendation = trial.recommend()
        arm = trial.arms.index(recommendation.arm)
        trial.report(recommendation.id, actual=trial.arms[actual[arm]], reward=float(reward[arm]))
        chosen.append(arm)
    return np.array(chosen)
