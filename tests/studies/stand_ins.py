"""Simulations of the line-up that compile in seconds, for tests of what is made of their results."""

from __future__ import annotations

from dataclasses import replace

from adhere import simulate
from adhere.policies import as_policy
from adhere.simulation import SimulationResult
from adhere.studies.framework.study import Experiment


def simulate_stand_ins(one: Experiment, n_patients: int, n_runs: int, seed: int) -> SimulationResult:
    """Simulate an experiment with ε-greedy policies, each of its own ε, in place of hybrids and of EXP3.

    `reproduce --quick`, which the slow tests run whole, has the policies themselves.
    """
    played = {
        policy if "(" not in policy else f"epsilon-greedy(epsilon={(1 + number) / 100})": policy
        for number, policy in enumerate(one.policies)
    }
    reference = next(stand_in for stand_in, policy in played.items() if policy == one.reference)
    sizes = {"reference": reference, "grid": one.grid, "pooled": one.pooled}
    result = simulate(list(played), one.populations, n_patients, n_runs, seed, **sizes)  # type: ignore[arg-type]
    named = {str(as_policy(stand_in)): policy for stand_in, policy in played.items()}
    return replace(result, outcomes=tuple(replace(one, policy=named[one.policy]) for one in result.outcomes))
