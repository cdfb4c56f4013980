"""Operating characteristics of a design in a scenario, with Monte Carlo errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from adhere.design.design import Design
from adhere.errors import InputError, nearest
from adhere.evaluation.characteristics import monte_carlo
from adhere.evaluation.characteristics.measure import Distributions
from adhere.evaluation.characteristics.quantities import MEANINGS, Quantity, quantities
from adhere.evaluation.outcomes import Columns
from adhere.evaluation.scenarios.scenario import Scenario, Truth
from adhere.intervals import Estimate
from adhere.looks.judge import ACTIVE, NAMES
from adhere.simulation.measures.moments import Moments
from adhere.simulation.results.outcome import Trajectory

_PAIRED: Mapping[Callable[..., Estimate | None], Callable[[Moments, int], Estimate]] = {
    monte_carlo.probability: monte_carlo.paired_probability_difference,
    Moments.estimate: Moments.estimate,
    Moments.mean_share: Moments.estimate,
}


class Characteristic(NamedTuple):
    """One operating characteristic of an arm, of an estimate, or of the trial as a whole (`arm` is None).

    `estimand` ("intention-to-treat", "compliers") and `method` ("naive", "any-time valid") are for estimates only.
    If a characteristic has no meaning in the scenario, `estimate` is None and `reason` says why.
    """

    name: str
    arm: str | None
    estimand: str | None
    method: str | None
    estimate: Estimate | None
    reason: str = ""

    @property
    def meaning(self) -> str:
        """Definition of the characteristic, in a sentence."""
        return MEANINGS[self.name]


@dataclass(frozen=True, eq=False, repr=False)
class Characteristics:
    """Operating characteristics of one design in one scenario.

    `blocks` are the moments of the rows of `measure_rows`, for consecutive blocks of trials. `differences` are the
    moments of these rows minus the rows of the reference design (the first `columns.n_shared` columns). They are
    empty for the reference itself.
    """

    design: Design
    scenario: Scenario
    truth: Truth
    columns: Columns
    blocks: tuple[Moments, ...]
    distributions: Distributions
    differences: tuple[Moments, ...] = ()

    def __repr__(self) -> str:
        return f"Characteristics: {self.in_short()}"

    def in_short(self) -> str:
        """Return one line: scenario, design, and the main characteristics with Monte Carlo standard errors."""
        said = []
        for name, words in (("type_one", "type I error"), ("power", "power")):
            if (found := self.number(name)) is not None:
                error = "" if found.se is None else f" ({100 * found.se:.1f})"
                said.append(f"{words} {100 * found.mean:.1f}%{error}")
        if (size := self.number("sample_size")) is not None:
            said.append(f"{size.mean:,.0f} patients")
        return f"{self.scenario.name}; {self.design.name}: {', '.join(said)}"

    @cached_property
    def moments(self) -> Moments:
        """Moments over all trials."""
        return reduce(Moments.merge, self.blocks)

    @property
    def n_trials(self) -> int:
        """Number of trials simulated."""
        return self.moments.n

    @cached_property
    def _quantities(self) -> dict[tuple[str, str | None, str | None, str | None], Quantity]:
        arms = self.design.arms
        return {
            (one.name, None if one.arm is None else arms[one.arm], one.estimand, one.method): one
            for one in quantities(self.design, self.truth, self.columns)
        }

    @cached_property
    def table(self) -> tuple[Characteristic, ...]:
        """All characteristics in a fixed order: of the trial, of each arm, of each estimate."""
        return tuple(self.find(*key) for key in self._quantities)

    def find(
        self, name: str, arm: str | None = None, estimand: str | None = None, method: str | None = None
    ) -> Characteristic:
        """Return one characteristic, for example `find("power")` or `find("bias", "new", "compliers", "naive")`."""
        one = self._quantity(name, arm, estimand, method)
        estimate = None
        if not one.reason and one.q is None:
            estimate = one.estimator(self.moments, *one.where)
        elif not one.reason:
            estimate = one.estimator(getattr(self.distributions, one.distribution), one.q)
        reason = one.reason or ("" if estimate is not None else "no trial has one")
        return Characteristic(name, arm, estimand, method, estimate, reason)

    def number(self, name: str, *of: str | None) -> Estimate | None:
        """Return the estimate of a characteristic (see `find`), or None if it has no meaning in the scenario."""
        return self.find(name, *of).estimate

    @property
    def others(self) -> list[str]:
        """Arms that are compared with the control, or with the first arm if there is no control."""
        return [arm for place, arm in enumerate(self.design.arms) if place != self.truth.compared_with]

    def difference(self, name: str, arm: str | None = None) -> Characteristic:
        """Return a characteristic minus that of the reference design, paired by trials with the same patients.

        Standard deviations, quantiles and characteristics of estimates have no such difference.
        """
        one = self._quantity(name, arm)
        reason = one.reason or ("" if self.differences else "this is the reference design")
        compare = _PAIRED.get(one.estimator)
        if not reason and compare is None:
            reason = "it is no mean over trials, which could be compared trial by trial"
        estimate = None
        if not reason and compare is not None:
            estimate = compare(reduce(Moments.merge, self.differences), one.where[0])
        return Characteristic(name, arm, None, None, estimate, reason)

    def convergence(self, name: str, arm: str | None = None) -> tuple[tuple[int, Estimate], ...]:
        """Return the characteristic after one block of trials, after two, and so on, each with the number of trials.

        The result is empty if the characteristic has no meaning, and for quantiles, which are not stored by block.
        """
        one, found, so_far = self._quantity(name, arm), [], None
        if one.reason or one.q is not None:
            return ()
        for block in self.blocks:
            so_far = block if so_far is None else so_far.merge(block)
            if (estimate := one.estimator(so_far, *one.where)) is not None:
                found.append((so_far.n, estimate))
        return tuple(found)

    def over_time(self, arm: str) -> Trajectory:
        """Return the mean share of an arm among a trial's recommendations, up to each point of the grid.

        A stopped trial counts with its final share, so that the curve ends at `allocation`.
        """
        if arm not in self.design.arms:
            raise InputError("arm", arm, nearest(str(arm), self.design.arms))
        number = self.design.arms.index(arm)
        places = [self.columns.where("over_time", point, number) for point in range(len(self.columns.grid))]
        return _trajectory(self.columns.grid, [self.moments.mean_share(place) for place in places])

    def running(self) -> Trajectory:
        """Return, for each point of the grid, the share of trials with at least that many patients."""
        places = [self.columns.where("running", point) for point in range(len(self.columns.grid))]
        return _trajectory(self.columns.grid, [monte_carlo.probability(self.moments, place) for place in places])

    def by_look(self) -> dict[str, Trajectory]:
        """Return the share of trials that stopped by each look, by reason of stopping; all others are "running"."""
        looks = tuple(range(1, self.columns.n_looks + 1))
        found = {}
        for status, name in enumerate(NAMES):
            places = [self.columns.where("stopped", look - 1, status) for look in looks]
            estimates = [monte_carlo.probability(self.moments, place) for place in places]
            found["running" if status == ACTIVE else name] = _trajectory(looks, estimates)
        return found

    def _quantity(
        self, name: str, arm: str | None = None, estimand: str | None = None, method: str | None = None
    ) -> Quantity:
        left = [key for key in self._quantities if key[0] == name]
        if not left:
            every = dict.fromkeys(key[0] for key in self._quantities)
            raise InputError("characteristic", name, nearest(str(name), every, complete=True))
        for place, (field, given) in enumerate((("arm", arm), ("estimand", estimand), ("method", method)), start=1):
            known = dict.fromkeys(key[place] for key in left)
            if given not in known:
                names = [one for one in known if one is not None]
                ways = ["none"] if None in known else []
                ways += [nearest(str(given), names)] if names else []
                raise InputError(f"{field} of {name}", given, " or ".join(ways))
            left = [key for key in left if key[place] == given]
        return self._quantities[left[0]]


def _trajectory(points: tuple[int, ...], estimates: list[Estimate]) -> Trajectory:
    """Return estimates and their intervals at each point. If an interval is missing, its ends are the estimate."""
    mean = np.array([one.mean for one in estimates])
    error = np.array([one.se or 0.0 for one in estimates])
    low = np.array([one.mean if one.low is None else one.low for one in estimates])
    high = np.array([one.mean if one.high is None else one.high for one in estimates])
    return Trajectory(np.array(points), mean, error, low, high)
