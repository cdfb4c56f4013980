"""The grid of the arena: families, horizons and runs, and the true mean rewards of its populations."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from adhere.errors import InputError, nearest
from adhere.populations import ComplianceTypes, Population, as_population, built_in_populations
from adhere.populations.population import Floats
from adhere.studies.arena.families import FAMILIES, N_POPULATIONS, Family, family


@dataclass(frozen=True, eq=False)
class MeanRewards:
    """Mean rewards as [unit, arm]. A unit is a population of a family, or a group of runs on a single population.

    Attributes
    ----------
    n_populations
        Number of distinct populations: the number of units, or one.
    recommendation
        E[R | chosen c].
    treatment
        E[R if everybody took a]; NaN if unknown.
    compliers
        E[R if a complier took a], where compliers take whatever is recommended; NaN if there are none or it is
        unknown.

    """

    n_populations: int
    recommendation: Floats
    treatment: Floats
    compliers: Floats

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.recommendation)


def mean_rewards_of(population: Population, n_groups: int = N_POPULATIONS) -> MeanRewards:
    """Return the true mean rewards of a family or of a single population.

    A single population is played in groups of runs, so that it has intervals too.

    >>> from adhere.populations import rich_and_poor
    >>> truth = mean_rewards_of(rich_and_poor())
    >>> truth.recommendation[0].tolist(), truth.treatment[0].tolist(), truth.compliers[0].tolist()
    ([0.625, 0.5], [0.75, 0.5], [0.5, 0.25])
    """
    if isinstance(population, Family):
        people = population.people
        means = people.recommendation_means(), people.treatment_means(), people.complier_means()
        return MeanRewards(population.n_populations, *means)
    unknown = np.full(population.n_arms, np.nan)
    treatment, compliers = _of_types(population) if isinstance(population, ComplianceTypes) else (unknown, unknown)
    every = population.mean_given_chosen(), treatment, compliers
    return MeanRewards(1, *(np.tile(means, (n_groups, 1)) for means in every))


def _of_types(population: ComplianceTypes) -> tuple[Floats, Floats]:
    """Return mean rewards if everybody, or every complier, took an arm; NaN if a compliance type's reward is
    unknown.
    """
    shares = np.array([one.probability for one in population.types])
    rewards = np.array([[np.nan if r is None else r for r in one.reward] for one in population.types])
    comply = np.array([one.takes == tuple(range(population.n_arms)) for one in population.types])
    compliers = shares * comply
    if not compliers.any():
        return shares @ rewards, np.full(population.n_arms, np.nan)
    return shares @ rewards, compliers[comply] @ rewards[comply] / compliers.sum()


STROKE: Final = ("stroke-aspirin", "stroke-heparin")
POOLED_STROKE: Final = "stroke"
# Single populations, by their names in the arena and in `adhere populations`.
NAMED: Final = {
    **{f"paper-{name}": name for name in ("defiers", "rich-and-poor", "homogeneous", "corrective")},
    **{name: name for name in STROKE},
}
UNCONFOUNDED: Final = "unconfounded"
MISLEADING: Final = ("confounded", "mildly-confounded")  # for pooling over recommendations
_TWO_ARMS: Final = tuple(name for name, kind in FAMILIES.items() if kind.n_arms == 2 and name != "uniform-other")
MAIN_HORIZON: Final = 2000
_QUICK_POPULATIONS, _QUICK_UNIFORM_OTHER = 100, 5000


@dataclass(frozen=True)
class Cell:
    """A family (or a named population) at a horizon, with a number of runs on each population.

    `n_populations` defaults to that of the family. A named population is played in as many groups of runs.
    """

    family: str
    n_patients: int
    n_runs: int
    n_populations: int | None = None

    @property
    def population(self) -> Population:
        """The population of the cell."""
        return population_of(self.family, self.n_populations)

    @property
    def truth(self) -> MeanRewards:
        """The true mean rewards of the population."""
        return _truth(self.family, self.n_populations)

    @property
    def is_of_frontier(self) -> bool:
        """Return whether the frontier shows this cell."""
        return self.n_patients == MAIN_HORIZON and self.family in (UNCONFOUNDED, *MISLEADING)

    @property
    def total_patients(self) -> int:
        """The number of patients that each policy meets."""
        return self.truth.n_units * self.n_runs * self.n_patients


_DRAWN: Final = {name: kind.n_arms for name, kind in FAMILIES.items() if name != "uniform-other"}
_EXAMPLES: Final = tuple(name for name in NAMED if name not in STROKE)


def _cells() -> tuple[Cell, ...]:
    """Return the full grid: at most 40 million decisions per policy and cell, and fewer for slow policies."""
    runs = {2: 100, 3: 50, 5: 20}
    return (
        *(Cell(name, 12, 400) for name in _TWO_ARMS),
        Cell("uniform-other", 12, 8),
        *(Cell(name, 100, 100) for name in (UNCONFOUNDED, *MISLEADING)),
        *(Cell(name, MAIN_HORIZON, runs[n_arms]) for name, n_arms in _DRAWN.items()),
        *(Cell(name, MAIN_HORIZON, 10) for name in _EXAMPLES),
        *(Cell(name, MAIN_HORIZON, 20) for name in STROKE),
        *(Cell(name, 10_000, 25) for name in STROKE),
        *(Cell(name, 100_000, 2) for name in _TWO_ARMS),
    )


def _quick_cells() -> tuple[Cell, ...]:
    """Return the grid of --quick: half of the populations, fewer runs, and fewer horizons."""
    runs, n = {2: 8, 3: 4, 5: 2}, _QUICK_POPULATIONS
    return (
        Cell("uniform-other", 12, 4, _QUICK_UNIFORM_OTHER),
        *(Cell(name, MAIN_HORIZON, runs[n_arms], n) for name, n_arms in _DRAWN.items()),
        *(Cell(name, MAIN_HORIZON, 2, n) for name in _EXAMPLES),
        *(Cell(name, 10_000, 2, n) for name in STROKE),
    )


FULL: Final = _cells()
QUICK: Final = _quick_cells()


def select(cells: tuple[Cell, ...], families: list[str] | None) -> tuple[Cell, ...]:
    """Return the cells of some families."""
    known = list(dict.fromkeys(cell.family for cell in cells))
    for name in families or ():
        if name not in known:
            raise InputError("family", name, nearest(name, known))
    return tuple(cell for cell in cells if not families or cell.family in families)


@cache
def population_of(name: str, n_populations: int | None = None) -> Population:
    """Return the population or family with a name."""
    return as_population(NAMED[name]) if name in NAMED else family(name, n_populations=n_populations)


@cache
def _truth(name: str, n_populations: int | None) -> MeanRewards:
    return mean_rewards_of(population_of(name, n_populations), n_populations or N_POPULATIONS)


def family_row(cell: Cell) -> dict[str, Any]:
    """Return a family's row: its description, how it was drawn, and the numbers that identify it."""
    population, means = cell.population, cell.truth.recommendation
    row = {
        "family": cell.family,
        "n_arms": population.n_arms,
        "n_populations": cell.truth.n_populations,
        "best_surplus": float((means.max(axis=1) - means.mean(axis=1)).mean()),
    }
    if isinstance(population, Family):
        kind = FAMILIES[cell.family]
        drawn = {"description": kind.description, "drawn": kind.drawn}
        return row | drawn | {"seed": population.seed, "digest": population.digest}
    name = NAMED[cell.family]
    described = {"description": built_in_populations()[name], "drawn": f"the population {name}, once"}
    return row | described | {"seed": None, "digest": None}
