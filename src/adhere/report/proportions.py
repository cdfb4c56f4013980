"""Shares of patients, and differences of shares, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from adhere.errors import InputError
from adhere.intervals import wilson


class Interval(NamedTuple):
    """A figure and the ends of its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def covers_zero(self) -> bool:
        """Whether the interval holds zero."""
        return self.low <= 0.0 <= self.high

    def percent(self) -> str:
        """As a share.

        >>> Interval(0.9103, 0.9044, 0.9158).percent()
        '91.0% [90.4, 91.6]'
        """
        return f"{self.value:.1%} [{100 * self.low:.1f}, {100 * self.high:.1f}]"

    def points(self) -> str:
        """As a difference of shares, in points.

        >>> Interval(0.0039, -0.0042, 0.0121).points()
        '+0.39 [-0.42, +1.21]'
        """
        value, low, high = ("0.00" if abs(number) < 5e-5 else f"{100 * number:+.2f}" for number in self)
        return f"{value} [{low}, {high}]"

    def columns(self, name: str) -> dict[str, float]:
        """As columns of a table, to be read again by `interval_in`."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


def interval_in(row: Mapping[str, Any], name: str) -> Interval:
    """The interval that a row of a table holds in the columns of this name.

    >>> interval_in({"share": 0.5, "share_low": 0.4, "share_high": 0.6}, "share")
    Interval(value=0.5, low=0.4, high=0.6)
    """
    return Interval(row[name], row[f"{name}_low"], row[f"{name}_high"])


def share(count: int, total: int) -> Interval:
    """The share of `count` in `total` with Wilson's score interval.

    >>> [round(end, 4) for end in share(81, 263)]
    [0.308, 0.2553, 0.3662]

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    """
    if not 0 <= count <= total or not total:
        raise InputError("count, total", (count, total), "a count from 0 to the total, and a total of at least 1")
    p, (low, high) = count / total, wilson(count, total)
    # At the ends of the range rounding could leave the share itself just outside.
    return Interval(p, min(p, low), max(p, high))


def share_difference(one: Interval, other: Interval) -> Interval:
    """One share less another of other patients, with Newcombe's hybrid score interval.

    >>> [round(end, 4) for end in share_difference(share(56, 70), share(48, 80))]
    [0.2, 0.0524, 0.3339]

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.

    """
    difference = one.value - other.value
    return Interval(
        difference,
        difference - math.hypot(one.value - one.low, other.high - other.value),
        difference + math.hypot(one.high - one.value, other.value - other.low),
    )
