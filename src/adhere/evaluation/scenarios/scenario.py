"""A scenario: what one trial of a design would meet, and what is true there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from adhere.populations import Population

Null: TypeAlias = Literal["sharp", "average"]


@dataclass(frozen=True, repr=False)
class Scenario:
    """A population, and what is known of it from how it was made.

    `null` says which null hypothesis holds, if one does: "sharp", where the reward is the same in each
    compliance type whatever is taken, or "average", where effects differ but the mean reward is the same whichever
    arm is chosen. `effect`, `compliance` and `confounding` are its place in a grid, `baseline` is the mean outcome
    of those who comply without an effect; None where it is none of a grid. `average_null` is what half of those who
    comply gain and the others lose, where it is the average null of a grid.
    """

    name: str
    population: Population
    null: Null | None = None
    effect: float | None = None
    compliance: float | None = None
    confounding: float | None = None
    baseline: float | None = None
    average_null: float | None = None

    def __repr__(self) -> str:
        known = ((one.name, getattr(self, one.name)) for one in fields(self) if one.name != "population")
        return f"Scenario({', '.join(f'{name}={value!r}' for name, value in known if value is not None)})"
