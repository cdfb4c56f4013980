"""What the compiled engine did in each run: `simulate` keeps only means, these tests need more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adhere.policies import as_policy
from adhere.populations import Population
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.patient_loop import run_block
from adhere.simulation.measures.measure import Tallies

Integers = NDArray[np.int64]


def tallies_of(
    policy: object,
    population: Population,
    n_patients: int,
    n_runs: int,
    seed: int,
    grid: Integers,
    *,
    first_run: int = 0,
    compiled: bool = True,
) -> Tallies:
    """What consecutive runs leave behind, as the engine itself sees it.

    A composition takes seconds to compile for each number of arms. As plain Python the same loop takes a millisecond
    for each patient.
    """
    runner = CompiledRunner(as_policy(policy), population, n_patients, grid)
    if compiled:
        runner.prepare(lambda message: None)
    else:
        runner.load_tables(lambda message: None)
        runner.kernel = run_block
    runs, tables = range(first_run, first_run + n_runs), population.tables(seed, first_run, n_runs)
    with np.errstate(all="ignore"):  # as compiled code does
        return runner.start(seed, runs, tables, np.zeros(1, np.int64), np.zeros(1, np.int64))()


def counts_of(policy: object, population: Population, n_patients: int, n_runs: int, seed: int) -> Integers:
    """How often each arm was chosen, [run, arm]."""
    return tallies_of(policy, population, n_patients, n_runs, seed, np.array([n_patients])).pulls[:, 0, :]


def arms_of(
    policy: object, population: Population, n_patients: int, n_runs: int, seed: int, *, compiled: bool = True
) -> Integers:
    """The arm chosen for each patient, [run, patient]."""
    every = np.arange(1, n_patients + 1)
    pulls = tallies_of(policy, population, n_patients, n_runs, seed, every, compiled=compiled).pulls
    chosen: Integers = np.diff(pulls, axis=1, prepend=0).argmax(axis=2)
    return chosen
