"""What an evaluation holds, in the order in which it is shown: scenario by scenario, in each design by design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from adhere.evaluation.output.texts import short_percent
from adhere.intervals import Estimate

if TYPE_CHECKING:
    from adhere.design.design import Design
    from adhere.evaluation.characteristics.characteristics import Characteristics
    from adhere.evaluation.evaluation import Evaluation
    from adhere.evaluation.scenarios.scenario import Scenario

STATUSES = ("superior", "inferior", "equivalent", "futile")
INCONCLUSIVE = "inconclusive"
One = TypeVar("One")


class Row(NamedTuple):
    """A design in a scenario, and how its trials behave there."""

    scenario: Scenario
    design: Design
    found: Characteristics

    @property
    def label(self) -> str:
        """What the design is called."""
        return self.design.name

    def number(
        self, name: str, arm: str | None = None, estimand: str | None = None, method: str | None = None
    ) -> Estimate | None:
        """A characteristic; None where it has no meaning here."""
        return self.found.find(name, arm, estimand, method).estimate

    @property
    def is_null(self) -> bool:
        """Whether no arm is better than another to recommend."""
        return self.scenario.null is not None

    @property
    def others(self) -> list[str]:
        """The arms that are compared with the control, or with the first arm."""
        control = self.design.control or self.design.arms[0]
        return [arm for arm in self.design.arms if arm != control]


def rows_of(evaluation: Evaluation) -> list[Row]:
    """All of it."""
    return [Row(found.scenario, found.design, found) for found in evaluation.results]


def rows_of_design(evaluation: Evaluation, number: int) -> list[Row]:
    """Those of one design."""
    return rows_of(evaluation)[number :: len(evaluation.designs)]


def some_of(scenarios: Sequence[One], most: int) -> list[One]:
    """As many as there is room for, spread evenly from the first to the last.

    >>> some_of([0, 1, 2, 3, 4, 5, 6], 3)
    [0, 3, 6]
    """
    if len(scenarios) <= most:
        return list(scenarios)
    return [scenarios[round(place * (len(scenarios) - 1) / (most - 1))] for place in range(most)]


def scenario_columns(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What tells scenarios apart, in columns: their names, or their places where all are of a grid."""
    scenarios = [row.scenario for row in rows]
    kinds = [f"{one.null} null" if one.null else one.name.partition(", compliance ")[0] for one in scenarios]
    shares = ["" if one.compliance is None else short_percent(one.compliance) for one in scenarios]
    shifts = ["" if one.confounding is None else f"{one.confounding:g}" for one in scenarios]
    baselines = ["" if one.baseline is None else f"{one.baseline:g}" for one in scenarios]
    if not all(shares) or len(set(zip(kinds, shares, shifts, baselines, strict=True))) < len(rows):
        return {"scenario": [one.name for one in scenarios]}
    places = {"comply": shares, "confounding": shifts, "baseline": baselines}
    return {"scenario": kinds, **{name: cells for name, cells in places.items() if len(set(cells)) > 1}}
