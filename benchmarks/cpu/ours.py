"""adhere's own policies, as their users run them: a whole `simulate` on one thread, compiled beforehand."""

from __future__ import annotations

from benchmarks.cpu.measuring import Narrator, Subject, Timed, amount_for, timed

import adhere
from adhere.simulation import SimulationResult

ADHERE = "adhere"
TWO_ARMS, THREE_ARMS = "stroke-aspirin", "stroke-heparin"
N_PATIENTS, SEED = 10_000, 0
THOMPSON, GREEDY = "thompson", "epsilon-greedy"
HIERARCHICAL, BOUNDED = "hierarchical(epsilon-greedy)", "thompson-bounded(hierarchical(epsilon-greedy))"
OTHERS = (
    "uniform",
    "ucb1",
    "base-thompson",
    "exp3",
    "mediated-thompson",
    HIERARCHICAL,
    "hierarchical(thompson)",
    "hierarchical(exp3)",
    "hierarchical(thompson, recycle=true)",
    BOUNDED,
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)",
    "thompson-bounded(hierarchical(thompson))",
    "thompson-bounded(hierarchical(exp3))",
    "hierarchical-exp3",
)
THOMPSON_OF_THREE = "thompson, three arms"


def prepare(policies: list[str], population: object, narrator: Narrator) -> None:
    """Compile what is not on disk yet."""
    with narrator.steps(len(policies)) as step:
        for policy in policies:
            step(f"compiling or loading {policy}")
            simulate(policy, population, 10, 1)


def simulate(
    policy: str, population: object, n_patients: int, n_runs: int, n_threads: int = 1, seed: int = SEED
) -> SimulationResult:
    """A simulation without a progress bar of its own."""
    return adhere.simulate(policy, population, n_patients, n_runs, seed, n_threads=n_threads, progress=False)


def subject(
    policy: str,
    population: object,
    seconds: float,
    *,
    maker: str = ADHERE,
    called: str = "",
    n_patients: int = N_PATIENTS,
) -> Subject:
    """A policy on a population, with as many runs as take about so many seconds."""

    def run(n_runs: int) -> float:
        return timed(lambda: simulate(policy, population, n_patients, n_runs))

    simulate(policy, population, 10, 1)  # compiled, if it is not yet
    n_runs = amount_for(seconds, run, max(1, 10_000 // n_patients), 10_000_000)
    return Subject(maker, called or policy, lambda: Timed(run(n_runs), n_runs * n_patients))
