"""What the tables of the stroke data say."""

from __future__ import annotations

from typing import Any

from adhere.populations.stroke import ARMS
from adhere.report.proportions import Interval, interval_in
from adhere.studies.framework.study import Tables
from adhere.studies.stroke_data.tables import REFERENCE


class Facts:
    """The tables with the few figures that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.counts, self.compliance = tables["counts"], tables["compliance"]
        self.survival, self.flow = tables["survival"], tables["flow"]
        self.randomised, self.left_out, self.analysed = self.flow["patients"].to_list()[:3]

    def alive(self, trial: str, view: str, arm: str) -> Interval:
        """The share alive at 14 days."""
        return interval_in(self._row(trial, view, arm), "share")

    def difference(self, trial: str, view: str, arm: str) -> Interval:
        """That share less the one of the reference arm."""
        return interval_in(self._row(trial, view, arm), "difference")

    def heparin_doses(self) -> dict[str, Interval]:
        """The difference that each dose makes by intention to treat."""
        return {arm: self.difference("heparin", "chosen", arm) for arm in ARMS["heparin"] if arm != REFERENCE}

    def _row(self, trial: str, view: str, arm: str) -> dict[str, Any]:
        return self.survival.filter(trial=trial, view=view, arm=arm).to_dicts()[0]
