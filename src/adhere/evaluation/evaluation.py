"""The result of `adhere.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adhere.evaluation.evaluation_data import EvaluationData
from adhere.report.numbers import counted
from adhere.simulation.results.lookup import HasFrame

if TYPE_CHECKING:
    import polars


class Evaluation(HasFrame, EvaluationData):
    """Operating characteristics of designs in scenarios, which print, show in a notebook and convert."""

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
        from adhere.evaluation.to_data import as_polars

        return as_polars(self.results)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data. The seed is a string: JSON readers may round it."""
        from adhere.evaluation.to_data import as_json

        return {
            "version": self.version,
            "seed": str(self.seed),
            "n_trials": self.n_trials,
            "notes": list(self.notes),
            **as_json(self.designs, self.scenarios, self.results),
        }
