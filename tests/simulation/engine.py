"""What the compiled engine did in each run: `simulate` keeps only means, these tests need more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adhere.policies import as_policy
from adhere.populations import Population
from adhere.simulation.compiled_runner import CompiledRunner
from adhere.simulation.kernel import Tallies
from adhere.simulation.measure import n_last

Integers = NDArray[np.int64]


def tallies_of(
    policy: object, population: Population, n_patients: int, n_runs: int, seed: int, grid: Integers
) -> Tallies:
    """What runs 0 … n_runs - 1 leave behind, as the engine itself sees it."""
    runner = CompiledRunner(as_policy(policy), population, n_patients, grid, n_last(n_patients))
    runner.prepare(lambda message: None)
    tables = population.tables(seed, 0, n_runs)
    tallies = Tallies.zeros(n_runs, len(grid), population.n_arms, len(runner.deciders))
    runner.start(seed, 0, tables, tallies, np.zeros(1, np.int64), np.zeros(1, np.int64))
    return tallies


def counts_of(policy: object, population: Population, n_patients: int, n_runs: int, seed: int) -> Integers:
    """How often each arm was chosen, [run, arm]."""
    return tallies_of(policy, population, n_patients, n_runs, seed, np.array([n_patients])).pulls[:, 0, :]


def arms_of(policy: object, population: Population, n_patients: int, n_runs: int, seed: int) -> Integers:
    """The arm chosen for each patient, [run, patient]."""
    every = np.arange(1, n_patients + 1)
    pulls = tallies_of(policy, population, n_patients, n_runs, seed, every).pulls
    chosen: Integers = np.diff(pulls, axis=1, prepend=0).argmax(axis=2)
    return chosen
