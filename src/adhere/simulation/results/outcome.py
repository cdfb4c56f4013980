"""One policy on one population: every measure, over all runs and along the trial."""

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
        """How many runs of how many patients, in words."""
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
    """One policy on one population.

    `resolved` is the policy with the numbers it left open settled; `source` credits whoever collected the data.
    `arm_order` says which arm is the control and what decided the order of arms, where that matters; `best_arm` is
    the arm that is best to recommend, if it is the same in all runs.
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
        """The population, the policy, and its final surplus and regret, in a line."""
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
        """Expected surplus of always choosing the best arm, whose regret is 0; the same for all policies."""
        return self.surplus.mean + self.regret.mean

    def best_arm_surplus_trajectory(self) -> Floats:
        """The surplus of always choosing the best arm, along the grid of t."""
        best: Floats = self.trajectory("surplus").mean + self.trajectory("regret").mean
        return best

    def difference(self, measure: str = "surplus") -> Estimate:
        """The measure minus the reference policy's on the same patients, with a paired standard error."""
        return self._final(measure, difference=True)

    def quantile(self, q: float) -> float:
        """A quantile over runs of the final surplus, to within 0.5% of itself; `keep_runs` allows exact ones."""
        return self.sketch.quantile(q)

    def quantiles(self) -> dict[str, float]:
        """Five quantiles of the final surplus, by their names in tables: `surplus_q05` and others."""
        return {f"surplus_q{percent:02}": self.quantile(percent / 100) for percent in QUANTILES}

    @property
    def worse_than_randomisation(self) -> Estimate:
        """Share of runs whose surplus is negative."""
        return self._share_of_runs("worse_than_randomisation")

    @property
    def favours_best_arm(self) -> Estimate:
        """Share of runs in which a best arm leads the last recommendations (a tenth of them, at most 100)."""
        return self._share_of_runs("favours_best_arm")

    @property
    def allocation(self) -> dict[str, Estimate]:
        """Each arm's share of the recommendations."""
        return {arm: self.moments.mean_share(self._columns.allocation(i).stop - 1) for i, arm in enumerate(self.arms)}

    @property
    def experts(self) -> dict[str, Estimate]:
        """Each part's share of the decisions, for a hybrid; empty for a learner."""
        if len(self.components) < 2:
            return {}
        return {name: self.moments.mean_share(self._columns.component(i)) for i, name in enumerate(self.components)}

    def _share_of_runs(self, name: str) -> Estimate:
        """With Wilson's interval: the share itself and the ends are from 0 to 1. Of pooled shares it is too wide."""
        one, n_runs = self.moments.estimate(self._columns.share(name)), self.moments.n
        return one if one.se is None else Estimate(one.mean, one.se, *wilson(one.mean * n_runs, n_runs))

    def trajectory(self, measure: str = "surplus", difference: bool = False) -> Trajectory:
        """A measure, or its difference from the reference policy's, along the grid of t."""
        return self._along(self._columns.measure(measure, difference))

    def allocation_trajectory(self, arm: str) -> Trajectory:
        """An arm's share of the recommendations up to each point of the grid."""
        if arm not in self.arms:
            raise InputError("arm", arm, nearest(str(arm), self.arms))
        share = self._along(self._columns.allocation(self.arms.index(arm)))
        return replace(share, low=np.maximum(share.low, 0.0), high=np.minimum(share.high, 1.0))

    def _along(self, where: slice) -> Trajectory:
        mean, error = self.moments.mean[where], self.moments.standard_error()[where]
        return Trajectory(np.array(self.grid), mean, error, mean - Z95 * error, mean + Z95 * error)

    def to_json(self) -> dict[str, Any]:
        """The final figures as plain data."""
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
