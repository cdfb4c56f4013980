"""The grid of the arena: which families are played at which horizons, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from adhere.errors import InputError, nearest
from adhere.populations import Population, as_population
from adhere.studies.arena.families import FAMILIES, N_POPULATIONS, family
from adhere.studies.arena.truth import Truth, truth_of

STROKE: Final = ("stroke-aspirin", "stroke-heparin")
POOLED_STROKE: Final = "stroke"
# Single populations, by their names in the arena and in `adhere populations`.
NAMED: Final = {
    **{f"paper-{name}": name for name in ("defiers", "rich-and-poor", "homogeneous", "corrective")},
    **{name: name for name in STROKE},
}
UNCONFOUNDED: Final = "unconfounded"
MISLEADING: Final = ("confounded", "mildly-confounded")  # to pool over recommendations
_TWO_ARMS: Final = tuple(name for name, kind in FAMILIES.items() if kind.n_arms == 2 and name != "uniform-other")
MAIN_HORIZON: Final = 2000
_QUICK_POPULATIONS, _QUICK_UNIFORM_OTHER = 100, 5000


@dataclass(frozen=True)
class Cell:
    """A family (or a named population) at a horizon, with so many runs on each population.

    `n_populations` is that of the family if left out; a named population is played in as many groups of runs.
    """

    family: str
    n_patients: int
    n_runs: int
    n_populations: int | None = None

    @property
    def population(self) -> Population:
        """Who answers."""
        return population_of(self.family, self.n_populations)

    @property
    def truth(self) -> Truth:
        """What is true of them."""
        return _truth(self.family, self.n_populations)

    @property
    def is_of_frontier(self) -> bool:
        """Whether the frontier is drawn of it."""
        return self.n_patients == MAIN_HORIZON and self.family in (UNCONFOUNDED, *MISLEADING)

    @property
    def total_patients(self) -> int:
        """How many patients each policy meets."""
        return self.truth.n_units * self.n_runs * self.n_patients


_DRAWN: Final = {name: kind.n_arms for name, kind in FAMILIES.items() if name != "uniform-other"}
_EXAMPLES: Final = tuple(name for name in NAMED if name not in STROKE)


def _cells() -> tuple[Cell, ...]:
    """The grid at full size: at most 40 million decisions of each policy in a cell, fewer where they take longer."""
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
    """The grid of --quick: half of the populations, fewer runs, fewer horizons."""
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
    """The cells of some families."""
    known = list(dict.fromkeys(cell.family for cell in cells))
    for name in families or ():
        if name not in known:
            raise InputError("family", name, nearest(name, known))
    return tuple(cell for cell in cells if not families or cell.family in families)


@cache
def population_of(name: str, n_populations: int | None = None) -> Population:
    """Who answers in a family of this name."""
    return as_population(NAMED[name]) if name in NAMED else family(name, n_populations=n_populations)


@cache
def _truth(name: str, n_populations: int | None) -> Truth:
    return truth_of(population_of(name, n_populations), n_populations or N_POPULATIONS)
