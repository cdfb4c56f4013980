"""Outcome of one policy on one population: every measure, over all runs and along the trial."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adhere.errors import InputError, nearest
from adhere.intervals import Z95, Estimate, wilson
from adhere.report.numbers import counted
from adhere.simulation.measures.measure import MEASURES, SHARES, Columns
from adhere.simulation.measures.moments import Floats, Moments
from adhere.simulation.measures.quantiles import QuantileSketch

QUANTILES = (5, 25, 50, 75, 95)  # in percent


@dataclass(frozen=True)
class Config:
    """Everything that decides the numbers of a simulation."""

    n_patients: int
    n_runs: int
    seed: int
    grid: tuple[int, ...]
    reference: str
    version: str

    @property
    def size(self) -> str:
        """Number of runs and patients, and the seed, in words."""
        return f"{counted(self.n_runs, 'run')} of {counted(self.n_patients, 'patient')}, seed {self.seed}"


@dataclass(frozen=True)
class Trajectory:
    """A measure along the trial: its mean over runs and 95% interval after t patients."""

    t: NDArray[np.int64]
    mean: Floats
    se: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Outcome:
    """Outcome of one policy on one population.

    `resolved` is the policy with all its open numbers filled in. `source` credits the source of the data. `arm_order`
    says which arm is the control and what decided the order of the arms, if that matters. `best_arm` is the best arm
    to recommend, if it is the same in all runs.
    """

    policy: str
    resolved: str
    population: str
    source: str
    arms: tuple[str, ...]
    components: tuple[str, ...]
    grid: tuple[int, ...]
    moments: Moments
    sketch: QuantileSketch
    arm_order: str = ""
    best_arm: str = ""

    def __repr__(self) -> str:
        return f"Outcome: {self.in_short()}"

    def in_short(self) -> str:
        """Return one line with the population, the policy, and its final surplus and regret."""
        return f"{self.population}, {self.policy}: surplus {self.surplus}, regret {self.regret.mean:.4g}"

    @property
    def _columns(self) -> Columns:
        return Columns(len(self.grid), len(self.arms))

    def _final(self, measure: str, difference: bool = False) -> Estimate:
        return self.moments.estimate(self._columns.measure(measure, difference).stop - 1)

    @property
    def surplus(self) -> Estimate:
        """Expected reward above uniform randomisation, given the arms chosen."""
        return self._final("surplus")

    @property
    def realised_surplus(self) -> Estimate:
        """Reward above the mean, over arms, of the same counterfactual patients' rewards."""
        return self._final("realised_surplus")

    @property
    def reward(self) -> Estimate:
        """Total reward."""
        return self._final("reward")

    @property
    def regret(self) -> Estimate:
        """Expected reward lost against always choosing the best arm."""
        return self._final("regret")

    @property
    def best_arm_surplus(self) -> float:
        """Expected surplus of always choosing the best arm, which has regret 0; the same for all policies."""
        return self.surplus.mean + self.regret.mean

    def best_arm_surplus_trajectory(self) -> Floats:
        """Return the surplus of always choosing the best arm, along the grid of t."""
        best: Floats = self.trajectory("surplus").mean + self.trajectory("regret").mean
        return best

    def difference(self, measure: str = "surplus") -> Estimate:
        """Return the measure minus the reference policy's on the same patients, with a paired standard error."""
        return self._final(measure, difference=True)

    def quantile(self, q: float) -> float:
        """Return a quantile of the final surplus over runs, to 0.5% of its value; with `keep_runs` it can be
        exact.
        """
        return self.sketch.quantile(q)

    def quantiles(self) -> dict[str, float]:
        """Return five quantiles of the final surplus by their column names: `surplus_q05` and others."""
        return {f"surplus_q{percent:02}": self.quantile(percent / 100) for percent in QUANTILES}

    @property
    def worse_than_randomisation(self) -> Estimate:
        """Share of runs with a negative surplus."""
        return self._share_of_runs("worse_than_randomisation")

    @property
    def favours_best_arm(self) -> Estimate:
        """Share of runs in which a best arm leads the last recommendations (a tenth of them, at most 100)."""
        return self._share_of_runs("favours_best_arm")

    @property
    def allocation(self) -> dict[str, Estimate]:
        """Share of the recommendations that each arm received."""
        return {arm: self.moments.mean_share(self._columns.allocation(i).stop - 1) for i, arm in enumerate(self.arms)}

    @property
    def experts(self) -> dict[str, Estimate]:
        """Share of the decisions that each component of a hybrid made; empty for a learner."""
        if len(self.components) < 2:
            return {}
        return {name: self.moments.mean_share(self._columns.component(i)) for i, name in enumerate(self.components)}

    def _share_of_runs(self, name: str) -> Estimate:
        """Return a share of runs with Wilson's interval, which lies in [0, 1] and is too wide for pooled shares."""
        one, n_runs = self.moments.estimate(self._columns.share(name)), self.moments.n
        return one if one.se is None else Estimate(one.mean, one.se, *wilson(one.mean * n_runs, n_runs))

    def trajectory(self, measure: str = "surplus", difference: bool = False) -> Trajectory:
        """Return a measure along the grid of t, or its difference from the reference policy's."""
        return self._along(self._columns.measure(measure, difference))

    def allocation_trajectory(self, arm: str) -> Trajectory:
        """Return an arm's share of the recommendations up to each grid point."""
        if arm not in self.arms:
            raise InputError("arm", arm, nearest(str(arm), self.arms))
        share = self._along(self._columns.allocation(self.arms.index(arm)))
        return replace(share, low=np.maximum(share.low, 0.0), high=np.minimum(share.high, 1.0))

    def _along(self, where: slice) -> Trajectory:
        mean, error = self.moments.mean[where], self.moments.standard_error()[where]
        return Trajectory(np.array(self.grid), mean, error, mean - Z95 * error, mean + Z95 * error)

    def to_json(self) -> dict[str, Any]:
        """Return the final numbers as plain data."""
        return {
            "policy": self.policy,
            "resolved_policy": self.resolved,
            "population": self.population,
            "source": self.source,
            "arm_order": self.arm_order,
            "best_arm": self.best_arm,
            "best_arm_surplus": self.best_arm_surplus,
            **{name: vars(getattr(self, name)) for name in MEASURES},
            **{f"{name}_difference": vars(self.difference(name)) for name in MEASURES},
            **self.quantiles(),
            **{name: vars(getattr(self, name)) for name in SHARES},
            "allocation": {arm: share.mean for arm, share in self.allocation.items()},
            "experts": {name: share.mean for name, share in self.experts.items()},
        }
