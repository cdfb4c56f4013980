"""Results to draw and to tabulate, made quickly: all these policies share two compiled kernels."""

from __future__ import annotations

from functools import cache

from adhere.simulation import SimulationResult, simulate

POPULATIONS = ("rich-and-poor", "stroke-heparin")


@cache
def a_result(n_policies: int, n_populations: int, n_runs: int = 30) -> SimulationResult:
    policies = ["uniform", *(f"epsilon-greedy(epsilon={number / 100})" for number in range(1, n_policies))]
    return simulate(policies, POPULATIONS[:n_populations], n_patients=200, n_runs=n_runs)
