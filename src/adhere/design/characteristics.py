"""The operating characteristics of a design in a scenario, each with its Monte Carlo error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

from adhere.design.columns import Columns
from adhere.design.distributions import Distributions
from adhere.design.scenario import Scenario
from adhere.design.truth import Truth
from adhere.intervals import Estimate
from adhere.simulation.moments import Moments
from adhere.simulation.outcome import Trajectory
from adhere.trial.design import Design


class Characteristic(NamedTuple):
    """One operating characteristic: of an arm or of the trial as a whole (`arm` None), perhaps of an estimate.

    `estimand` ("intention-to-treat", "compliers") and `method` ("naive", "any-time valid") are for estimates only.
    Where it has no meaning in the scenario, `estimate` is None and `reason` says why.
    """

    name: str
    arm: str | None
    estimand: str | None
    method: str | None
    estimate: Estimate | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Characteristics:
    """How trials of a design behave in a scenario.

    `blocks` are the moments of consecutive blocks of trials, as `measure_rows` measures them; `differences` those of
    the rows minus the reference design's (the first `columns.n_shared` columns), empty for the reference itself.
    """

    design: Design
    scenario: Scenario
    truth: Truth
    columns: Columns
    blocks: tuple[Moments, ...]
    distributions: Distributions
    differences: tuple[Moments, ...] = ()

    @cached_property
    def moments(self) -> Moments:
        """Those of all trials."""
        return reduce(Moments.merge, self.blocks)

    @property
    def n_trials(self) -> int:
        """How many trials were simulated."""
        return self.moments.n

    @cached_property
    def table(self) -> tuple[Characteristic, ...]:
        """All characteristics, in a fixed order: of the trial, of each arm, of each estimate."""
        raise NotImplementedError

    def find(
        self, name: str, arm: str | None = None, estimand: str | None = None, method: str | None = None
    ) -> Characteristic:
        """One of the table."""
        raise NotImplementedError

    def difference(self, name: str, arm: str | None = None) -> Characteristic:
        """A characteristic minus the reference design's, trial by trial with the same patients (paired)."""
        raise NotImplementedError

    def convergence(self, name: str, arm: str | None = None) -> tuple[tuple[int, Characteristic], ...]:
        """The characteristic after the trials of one block, of two, …, with the number of trials."""
        raise NotImplementedError

    def over_time(self, arm: str) -> Trajectory:
        """The mean share of an arm among a trial's recommendations up to each point of the grid."""
        raise NotImplementedError

    def running(self) -> Trajectory:
        """The share of trials that recommend an arm to so many patients, at each point of the grid."""
        raise NotImplementedError

    def by_look(self) -> dict[str, Trajectory]:
        """The share of trials that have stopped by each look, 1, 2, …, for what; "running" are all others."""
        raise NotImplementedError
