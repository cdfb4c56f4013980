"""Find the number at which a rate of errors, known by simulation only, comes down to an aim.

All evaluations meet the same patients (common random numbers), so that the rate is a step function of the number,
most often monotone. The search does not rely on it: it keeps a bracket, two numbers of which one has too high a rate
and the other has not, and a bracket always holds a crossing. Between its ends the probit of the rate is taken for
straight, on a scale that makes it nearly so. It begins with few trials, and has all of them near the end only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

# The rate at a number, in so many trials.
Rate: TypeAlias = Callable[[float, int], float]
End: TypeAlias = Literal["low", "high"]

_SHARES = (16, 4, 1)  # the search begins with a sixteenth of the trials, and goes on with a quarter
_FIRST_STEP = 0.1  # of the range
_NARROW = 1e-4  # of the range: a bracket that may as well be a point
_BEYOND = 1.5  # times as far as the slope says, to get to the other side of the aim
_BY_SLOPE = 3.0  # standard errors from the aim: near enough to go the rest by the slope that fewer trials had
_PROBITS_IN_RANGE = 4.0  # about what the rate changes by over the range, until two points are known
_normal = NormalDist()


class Scale(NamedTuple):
    """A scale on which the probit of a rate is nearly straight, and back."""

    to: Callable[[float], float]
    back: Callable[[float], float]


PROBIT = Scale(_normal.inv_cdf, _normal.cdf)  # of probabilities and levels
PLAIN = Scale(float, float)  # of critical values
ROOT = Scale(math.sqrt, lambda root: root * root)  # of numbers of patients


@dataclass(frozen=True)
class Range:
    """Where to search, on which scale, with how many decimals; `strict` is the end with the lower rate, if known."""

    low: float
    high: float
    scale: Scale
    decimals: int
    strict: End | None = None


class Point(NamedTuple):
    """A place on the scale, and how many probits its rate is above the aim."""

    at: float
    excess: float


class UnreachableError(Exception):
    """The rate is above the aim in the whole range, or in none of it."""

    def __init__(self, *, is_above: bool) -> None:
        self.is_above = is_above
        super().__init__(f"the rate is {'above' if is_above else 'at most'} the aim in the whole range")


class Search:
    """A search for the number at which a rate comes down to an aim."""

    def __init__(self, rate: Rate, aim: float, within: Range) -> None:
        self._rate, self._within, self._aim = rate, within, _normal.inv_cdf(aim)
        self._fewest = 0.5 / aim  # trials: of fewer, even none that errs counts as a rate above the aim
        self._low, self._high = within.scale.to(within.low), within.scale.to(within.high)
        self._width = self._high - self._low
        self._one_trial = math.sqrt(aim * (1.0 - aim)) / _normal.pdf(self._aim)  # its standard error, in probits
        self._slope, self._is_slope_known = _PROBITS_IN_RANGE / self._width, False
        self._strict = within.strict

    def find(self, start: float | None, n_trials: int) -> float:
        """A number whose rate is at the aim, as far as so many trials can tell; at a step, below it."""
        fewer = [n_trials // share for share in _SHARES]
        numbers = [n for n in fewer if n > self._fewest] or [n_trials]
        if self._strict is None:
            self._strict = self._strict_end(numbers[0])
        place = (self._low + self._high) / 2.0 if start is None else self._within.scale.to(start)
        for n in numbers:
            place = self._at_aim(place, n)
        return self._number(place)

    def stricter(self, number: float, probits: float) -> float:
        """A number whose rate should be so many probits lower, by the slope found."""
        return self._number(self._within.scale.to(number) + self._towards_strict(probits / self._slope))

    def _towards_strict(self, distance: float) -> float:
        return distance if self._strict == "high" else -distance

    def _at_aim(self, place: float, n_trials: int) -> float:
        near = self._one_trial / math.sqrt(n_trials)
        first = self._point(place, n_trials)
        if self._is_slope_known and abs(first.excess) <= _BY_SLOPE * near:
            return first.at + self._towards_strict(first.excess / self._slope)
        if abs(first.excess) <= near:
            return first.at
        above, below = self._bracket(first, n_trials)
        interpolate = True
        while (width := abs(above.at - below.at)) > _NARROW * self._width and -below.excess > near:
            share = above.excess / (above.excess - below.excess) if interpolate else 0.5
            middle = self._point(above.at + min(max(share, 0.05), 0.95) * (below.at - above.at), n_trials)
            if middle.at in (above.at, below.at):  # numbers of patients next to each other
                break
            if abs(middle.excess) <= near:
                return middle.at
            above, below = (middle, below) if middle.excess > 0.0 else (above, middle)
            interpolate = abs(above.at - below.at) <= width / 2.0  # else it creeps, as at a step
        return below.at

    def _bracket(self, first: Point, n_trials: int) -> tuple[Point, Point]:
        """From a point on towards the aim, in steps that double, until there is one on each side."""
        by_slope = _BEYOND * abs(first.excess) / self._slope
        step = by_slope if self._is_slope_known else _FIRST_STEP * self._width
        towards_high = (self._strict == "high") == (first.excess > 0.0)
        end = self._high if towards_high else self._low
        last = first
        while True:
            if last.at == end:
                raise UnreachableError(is_above=first.excess > 0.0)
            beyond = last.at + math.copysign(step, end - last.at)
            there = self._point(min(beyond, end) if towards_high else max(beyond, end), n_trials)
            if (there.excess > 0.0) != (first.excess > 0.0):
                above, below = (last, there) if first.excess > 0.0 else (there, last)
                self._slope, self._is_slope_known = (above.excess - below.excess) / abs(above.at - below.at), True
                return above, below
            last, step = there, 2.0 * step

    def _strict_end(self, n_trials: int) -> End:
        """Which end has the lower rate, where nothing is known of the number."""
        low, high = self._point(self._low, n_trials), self._point(self._high, n_trials)
        if (low.excess > 0.0) == (high.excess > 0.0):
            raise UnreachableError(is_above=low.excess > 0.0)
        return "high" if low.excess > 0.0 else "low"

    def _point(self, place: float, n_trials: int) -> Point:
        number = self._number(place)
        rate = min(max(self._rate(number, n_trials), 0.5 / n_trials), 1.0 - 0.5 / n_trials)
        return Point(self._within.scale.to(number), _normal.inv_cdf(rate) - self._aim)

    def _number(self, place: float) -> float:
        number = round(self._within.scale.back(place), self._within.decimals)
        return min(max(number, self._within.low), self._within.high)
