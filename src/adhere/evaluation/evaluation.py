"""The result of `adhere.evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adhere.design.design import Design
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.kept_trials import KeptTrials, result_index
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.report.numbers import counted
from adhere.simulation.results.lookup import HasFrame, ResultList

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(HasFrame, ResultList[Characteristics]):
    """Operating characteristics of designs in scenarios.

    `results` go scenario by scenario, in each by design in the order given; differences are from the first design.
    `kept_trials` are what every trial left behind, if `keep_trials` was given. `notes` say
    what a designer may not expect.
    """

    designs: tuple[Design, ...]
    scenarios: tuple[Scenario, ...]
    n_trials: int
    seed: int
    version: str
    results: tuple[Characteristics, ...]
    kept_trials: KeptTrials | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: object) -> Characteristics:
        """`evaluation[scenario]` or `evaluation[scenario, design]`: names, values or places.

        Without a design it is the first.
        """
        return self.results[result_index(key, self.scenarios, self.designs)]

    def _results(self) -> Sequence[Characteristics]:
        return self.results

    def __repr__(self) -> str:
        size = f"{counted(self.n_trials, 'trial')} of each design in each scenario, seed {self.seed}"
        return self._in_short(size, [one.in_short() for one in self.results], ".summary(), .to_polars(), .to_html()")

    def _repr_html_(self) -> str:
        from adhere.evaluation.output.summary import notebook_table

        return notebook_table(self)

    def summary(self, width: int = 100) -> str:
        """Everything that matters for a terminal of that width, in at most 100 columns."""
        from adhere.evaluation.output.summary import summary

        return summary(self, width)

    def to_html(self, command: str = "") -> str:
        """A page to attach to a protocol, one file for any browser; `command` is what repeats it (extra `report`)."""
        from adhere.evaluation.output.page import design_page

        return design_page(self, command)

    def to_polars(self) -> polars.DataFrame:
        """A row for each characteristic, with its paired difference from the first design.

        Columns: scenario, design, name, arm, estimand, method, mean, se, low, high, reason, difference,
        difference_se, difference_low, difference_high. What has no meaning is null, and `reason` says why.
        """
        from adhere.evaluation.evaluation_table import as_polars

        return as_polars(self.results)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data. The seed is a string: JSON readers may round it."""
        from adhere.evaluation.evaluation_table import as_json

        return {
            "version": self.version,
            "seed": str(self.seed),
            "n_trials": self.n_trials,
            "notes": list(self.notes),
            **as_json(self.designs, self.scenarios, self.results),
        }
