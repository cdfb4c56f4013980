"""Batches of trials. Each is drawn, analysed and counted on its own, in any process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from adhere.studies.coverage.adaptive_trials import AdaptiveTrials, adaptive_reports, redrawn_reports
from adhere.studies.coverage.bound_reports import BoundReports
from adhere.studies.coverage.cells import Cell
from adhere.studies.coverage.fixed_trials import FixedTrials, fixed_reports
from adhere.studies.coverage.people import ADAPTIVE, FIXED
from adhere.studies.coverage.tally import Alarm, Interval, Reported, Tally, Test

_MAX_TRIALS = 2**20  # per batch


@dataclass
class Counted:
    """How often intervals covered the truth, and how often tests raised alarms."""

    n_trials: int = 0
    intervals: dict[Interval, Tally] = field(default_factory=dict)
    alarms: dict[Test, Tally] = field(default_factory=dict)

    def add(self, reported: Iterable[Reported | Alarm], times: int = 1) -> None:
        """Count the reports on one trial, or on several trials with equal data."""
        for one in reported:
            if isinstance(one, Alarm):
                self.alarms.setdefault(one.test, Tally()).add(one.raised, times)
            else:
                self.intervals.setdefault(one.interval, Tally(one.truth)).add(one.given, times)

    def join(self, other: Counted) -> None:
        """Add the counts of another batch."""
        self.n_trials += other.n_trials
        for interval, tally in other.intervals.items():
            self.intervals.setdefault(interval, Tally(tally.truth)).join(tally)
        for test, alarms in other.alarms.items():
            self.alarms.setdefault(test, Tally()).join(alarms)


class Batch(NamedTuple):
    """A batch of trials of one cell."""

    cell: Cell
    seed: int
    number: int
    n_trials: int


def run_batch(batch: Batch) -> Counted:
    """Draw a batch's trials, analyse them, and count."""
    counted, cell = Counted(batch.n_trials), batch.cell
    (who,) = (one for one in (FIXED if cell.is_fixed else ADAPTIVE) if one.name == cell.people)
    drawing = batch.seed, batch.number, batch.n_trials
    bounded = BoundReports(who, adaptive=not cell.is_fixed)
    if cell.is_fixed:
        for records, times in FixedTrials(who, cell.n_patients // 2).drawn(*drawing):
            counted.add(fixed_reports(records, who), times)
            counted.add(bounded.of(records), times)
        return counted
    for i, trial in enumerate(AdaptiveTrials(who, cell.policy, cell.n_patients).drawn(*drawing)):
        if not cell.n_redraws:
            counted.add(adaptive_reports(trial.records, who))
            counted.add(bounded.of(trial.records))
        else:
            # Redraws have their own keys, different in every trial.
            counted.add(redrawn_reports(trial.logged, who, cell.n_redraws, batch.number * _MAX_TRIALS + i))
    return counted
