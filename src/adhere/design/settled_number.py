"""A number found by a search among the same patients, and what fresh trials say of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

from adhere.design.confirmation import clopper_pearson
from adhere.design.search import Range, Search
from adhere.intervals import Estimate

LEVEL = 0.95  # at which the upper limits of all scenarios hold together
_ALPHAS = (0.04, 0.01)  # of the first and the second try to confirm a number; together they are 1 - LEVEL
_MIN_AIM = 0.6  # of the target, however few the trials
_normal = NormalDist()
_probit = _normal.inv_cdf

# The rates of error in all scenarios with a number, so many trials and a seed.
Errors: TypeAlias = Callable[[float, int, int], tuple[float, ...]]


class Tried(NamedTuple):
    """A number that was tried: in how many trials, with which seed, and the rate of error in each scenario."""

    number: float
    n_trials: int
    seed: int
    errors: tuple[float, ...]


@dataclass(frozen=True)
class SettledNumber:
    """A number, the rate of error in each scenario in fresh trials, and all that was tried, the last one included.

    The upper limits of the rates hold together, at `LEVEL`.
    """

    number: float
    errors: tuple[Estimate, ...]
    tried: tuple[Tried, ...]
    target: float

    @property
    def worst(self) -> int:
        """Which scenario has the highest rate."""
        return max(range(len(self.errors)), key=lambda index: self.errors[index].mean)

    @property
    def upper_limit(self) -> float:
        """What no scenario's rate is above, at `LEVEL`."""
        return max(error.hi for error in self.errors if error.hi is not None)

    @property
    def is_confirmed(self) -> bool:
        """Whether fresh trials leave no doubt, at `LEVEL`, that no scenario's rate is above the target."""
        return self.upper_limit <= self.target


def settle(
    errors: Errors,
    n_scenarios: int,
    target: float,
    within: Range,
    start: float | None,
    n_trials: int,
    seed: int,
    on_tried: Callable[[Tried], None] | None = None,
) -> SettledNumber:
    """Search for the number at which the worst rate is so far below a target that fresh trials can confirm it.

    The search has one seed throughout (common random numbers), and the trials that confirm have the next one. Where
    they do not confirm the number, a stricter one is tried with the seed after that.
    """
    tried: list[Tried] = []

    def try_out(number: float, n: int, with_seed: int) -> tuple[float, ...]:
        tried.append(Tried(number, n, with_seed, errors(number, n, with_seed)))
        if on_tried is not None:
            on_tried(tried[-1])
        return tried[-1].errors

    standard_error = math.sqrt(target * (1.0 - target) / n_trials)
    margin = 1.0 - _probit(_ALPHAS[0] / n_scenarios)  # one more than the limits need, for what the search may miss
    aim = max(_MIN_AIM * target, target - margin * standard_error)
    search = Search(lambda number, n: max(try_out(number, n, seed)), aim, within)
    number = search.find(start, n_trials)
    for fresh, alpha in enumerate(_ALPHAS, start=1):
        rates = try_out(number, n_trials, (seed + fresh) % 2**64)
        found = tuple(_limited(rate, n_trials, 1.0 - 2.0 * alpha / n_scenarios) for rate in rates)
        settled = SettledNumber(number, found, tuple(tried), target)
        if settled.is_confirmed or settled.upper_limit == 1.0:
            break
        # The next limit is wider, and the rate found may have been a lucky one.
        extra = (1.0 + _probit(_ALPHAS[0]) - _probit(_ALPHAS[1])) * standard_error / _normal.pdf(_probit(target))
        number = search.stricter(number, _probit(settled.upper_limit) - _probit(target) + extra)
    return settled


def _limited(rate: float, n: int, level: float) -> Estimate:
    low, high = clopper_pearson(round(rate * n), n, level)
    return Estimate(rate, math.sqrt(rate * (1.0 - rate) / n), low, high)
