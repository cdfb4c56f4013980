"""The tables of rich and poor patients and of defiers, and what they say."""

from __future__ import annotations

from collections.abc import Mapping

from adhere.simulation import Estimate, SimulationResult
from adhere.studies.framework.study import Tables
from adhere.studies.lineup.entries import ALL, MAIN, Entry
from adhere.studies.lineup.tables import along_table, estimate_in, final_table


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies, and the surplus along the trial of the main ones."""
    return {"final": final_table(results["all"], ALL), "along": along_table(results["all"], MAIN)}


class Facts:
    """The final figures, by population and policy."""

    def __init__(self, tables: Tables) -> None:
        final = self.final = tables["final"]
        self.along = tables["along"]
        self.n_policies = final["policy"].n_unique()
        self.n_patients, self.n_runs = (int(final[name][0]) for name in ("n_patients", "n_runs"))

    def of(self, population: str, one: Entry, measure: str = "surplus") -> Estimate:
        """A measure of a policy after the last patient."""
        return estimate_in(self.final, population=population, policy=one.policy, measure=measure)

    def best(self, population: str) -> float:
        """The surplus of always choosing the best arm: with two arms, the worst one's is the opposite."""
        one = ALL[0]
        return self.of(population, one).mean + self.of(population, one, "regret").mean

    def share_lost(self, population: str, one: Entry) -> Estimate:
        """Regret as a share of the most that can be lost."""
        regret, most = self.of(population, one, "regret"), 2 * self.best(population)
        return Estimate(*(None if value is None else value / most for value in vars(regret).values()))  # type: ignore[arg-type]
