"""Define a study: experiments to simulate, tables of their results, and a section rendered from the tables.

Simulating takes minutes and leaves tables; rendering takes a second and reads only the tables. A finished study can
therefore be rendered again, and every number in a report comes from a file beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from adhere.populations import PopulationLike, as_population
from adhere.report.section import Section
from adhere.simulation import SimulationResult
from adhere.studies.framework.words import Tables as Tables

QUICK_SHARE = 10  # a quick study has a tenth of the runs


@dataclass(frozen=True)
class Experiment:
    """One call of `simulate`, without the seed."""

    policies: Sequence[str]
    populations: Sequence[PopulationLike]
    n_patients: int
    n_runs: int
    reference: str | None = None
    grid: int | Sequence[int] | None = None
    pooled: bool = False

    @property
    def total_patients(self) -> int:
        """The total number of simulated patients."""
        return len(self.policies) * len(self.populations) * self.n_patients * self.n_runs

    def compositions(self) -> list[tuple[str, int]]:
        """Return every policy with each number of arms."""
        sizes = [as_population(one).n_arms for one in self.populations]
        return [(policy, n_arms) for n_arms in sizes for policy in self.policies]


@dataclass(frozen=True)
class Study:
    """A study of the report.

    Parameters
    ----------
    name
        The name of its folder of data files, and of `--study`.
    title
        The heading of its section.
    plan
        The simulations by name, at full size.
    tables
        A function that makes the tables, which are saved as data files, from the results by name.
    section
        A function that makes the section of the report, without name and title, from the tables.

    """

    name: str
    title: str
    plan: Mapping[str, Experiment]
    tables: Callable[[Mapping[str, SimulationResult]], Tables]
    section: Callable[[Tables], Section]

    def experiments(self, quick: bool) -> dict[str, Experiment]:
        """Return the simulations by name: as planned, or with a tenth of the runs (at least two) if `quick`."""
        share = QUICK_SHARE if quick else 1
        return {name: replace(one, n_runs=max(2, one.n_runs // share)) for name, one in self.plan.items()}

    def render(self, tables: Tables) -> Section:
        """Return the section of the report, made only from the tables."""
        return replace(self.section(tables), name=self.name, title=self.title)
