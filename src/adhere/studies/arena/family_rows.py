"""What the tables say of a family of populations."""

from __future__ import annotations

from typing import Any

from adhere.populations import built_in_populations
from adhere.studies.arena.cells import NAMED, Cell
from adhere.studies.arena.families import FAMILIES, Family


def family_row(cell: Cell) -> dict[str, Any]:
    """The family of a cell: what it is, how it was drawn, and by which numbers to know it."""
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
