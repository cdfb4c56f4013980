"""Search for the number at which a simulated error rate falls to an aim.

All evaluations use the same patients (common random numbers), so that the rate is a step function of the number,
usually monotone. The search does not rely on monotonicity: it maintains a bracket of one number with too high a rate
and one without, which always contains a crossing. Within the bracket it interpolates the probit of the rate linearly,
on a scale on which it is nearly linear. It starts with few trials, and uses all of them only near the end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

# Return the rate, given the number and the number of trials.
Rate: TypeAlias = Callable[[float, int], float]
End: TypeAlias = Literal["low", "high"]

_SHARES = (16, 4, 1)  # first a sixteenth of the trials, then a quarter, then all
_FIRST_STEP = 0.1  # of the range
_NARROW = 1e-4  # relative to the range; a narrower bracket counts as a point
_BEYOND = 1.5  # factor beyond the step by slope, to get to the other side of the aim
_BY_SLOPE = 3.0  # standard errors from the aim within which the slope found with fewer trials is used
_PROBITS_IN_RANGE = 4.0  # assumed change of the rate over the range, until two points are known
_normal = NormalDist()


class Scale(NamedTuple):
    """Scale on which the probit of a rate is nearly linear, with its inverse."""

    to: Callable[[float], float]
    back: Callable[[float], float]


PROBIT = Scale(_normal.inv_cdf, _normal.cdf)  # for probabilities and levels
PLAIN = Scale(float, float)  # for critical values
ROOT = Scale(math.sqrt, lambda root: root * root)  # of numbers of patients


@dataclass(frozen=True)
class Range:
    """Range to search, its scale and number of decimals; `strict` is the end with the lower rate, if known."""

    low: float
    high: float
    scale: Scale
    decimals: int
    strict: End | None = None


class Point(NamedTuple):
    """Point on the scale, and the probit of its rate minus the probit of the aim."""

    at: float
    excess: float


class UnreachableError(Exception):
    """Raised if the rate is above the aim in the entire range, or nowhere in the range."""

    def __init__(self, *, is_above: bool) -> None:
        self.is_above = is_above
        super().__init__(f"the rate is {'above' if is_above else 'at most'} the aim in the whole range")


class Search:
    """Search for the number at which a rate falls to an aim."""

    def __init__(self, rate: Rate, aim: float, within: Range) -> None:
        self._rate, self._within, self._aim = rate, within, _normal.inv_cdf(aim)
        self._fewest = 0.5 / aim  # with fewer trials, even no error would count as a rate above the aim
        self._low, self._high = within.scale.to(within.low), within.scale.to(within.high)
        self._width = self._high - self._low
        self._one_trial = math.sqrt(aim * (1.0 - aim)) / _normal.pdf(self._aim)  # its error in probits
        self._slope, self._is_slope_known = _PROBITS_IN_RANGE / self._width, False
        self._strict = within.strict

    def find(self, start: float | None, n_trials: int) -> float:
        """Return a number whose rate is the aim within the trials' precision, or below the aim if the rate jumps."""
        fewer = [n_trials // share for share in _SHARES]
        numbers = [n for n in fewer if n > self._fewest] or [n_trials]
        if self._strict is None:
            self._strict = self._strict_end(numbers[0])
        place = (self._low + self._high) / 2.0 if start is None else self._within.scale.to(start)
        for n in numbers:
            place = self._at_aim(place, n)
        return self._number(place)

    def stricter(self, number: float, probits: float) -> float:
        """Return a number whose rate is lower by this many probits, according to the slope found."""
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
            if middle.at in (above.at, below.at):  # neighbouring numbers of patients
                break
            if abs(middle.excess) <= near:
                return middle.at
            above, below = (middle, below) if middle.excess > 0.0 else (above, middle)
            interpolate = abs(above.at - below.at) <= width / 2.0  # otherwise it converges slowly, as at a step
        return below.at

    def _bracket(self, first: Point, n_trials: int) -> tuple[Point, Point]:
        """Step from a point towards the aim, doubling the steps, until there is a point on each side."""
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
        """Return the end of the range with the lower rate, if that is not known in advance."""
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
