"""The outcomes of a simulation, taken apart by population."""

from __future__ import annotations

from adhere.simulation import Outcome, SimulationResult


def by_population(result: SimulationResult) -> list[list[Outcome]]:
    """The outcomes of each population, in the order given; two that share a name stay apart."""
    groups: list[list[Outcome]] = []
    for outcome in result.outcomes:
        last = groups[-1] if groups else []
        is_new = all(one.policy != outcome.policy for one in last)
        if last and last[0].population == outcome.population and is_new:
            last.append(outcome)
        else:
            groups.append([outcome])
    return groups
