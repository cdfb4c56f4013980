"""Formatting of numbers for readers: columns of estimates with equally many decimals, shares and differences."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adhere.errors import InputError
from adhere.intervals import Estimate, wilson


def estimate_texts(
    estimates: Sequence[Estimate], sign: str = "", intervals: bool = True, digits: int | None = None
) -> list[str]:
    """Format a column of means with their intervals, with equally many decimals; `sign` '+' always shows the sign.

    >>> estimate_texts([Estimate(1.234, 0.1, 1.038, 1.43), Estimate(-11.234, 0.2, -11.626, -10.842)])
    ['1.23 [1.04, 1.43]', '-11.23 [-11.63, -10.84]']
    """
    digits = digits_of(estimates) if digits is None else digits
    texts = []
    for one in estimates:
        text = _number(one.mean, digits, sign)
        if intervals and one.low is not None and one.high is not None:
            text += f" [{_number(one.low, digits, sign)}, {_number(one.high, digits, sign)}]"
        texts.append(text)
    return texts


def counted(number: int, thing: str) -> str:
    """Format a count of something with a plural in s.

    >>> counted(1, "record"), counted(1200, "record")
    ('1 record', '1,200 records')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def rounded_numbers(text: str) -> str:
    """Round the numbers in a policy's text for display.

    >>> rounded_numbers("exp3(gamma=0.04379612181067773)/actual")
    'exp3(gamma=0.0438)/actual'
    """
    return re.sub(r"\d+\.\d{5,}(e-?\d+)?", lambda match: f"{float(match[0]):.3g}", text)


def estimate_in_row(row: Mapping[str, Any], name: str) -> Estimate:
    """Return the estimate in the columns `name`, `name_low` and `name_high` of a row."""
    return Estimate(row[name], None, row[f"{name}_low"], row[f"{name}_high"])


def digits_of(estimates: Sequence[Estimate]) -> int:
    """Return the number of decimals: two digits of the widest half-interval, but at most four digits of a number."""
    before_point = max(1, 1 + _exponent(max(abs(one.mean) for one in estimates)))
    widest = max((one.high - one.mean for one in estimates if one.high is not None), default=0.0)
    return max(0, min(1 - _exponent(widest), 4 - before_point))


def _exponent(value: float) -> int:
    return math.floor(math.log10(value)) if value > 0 else -1


def _number(value: float, digits: int, sign: str) -> str:
    return f"{round(value, digits) + 0.0:{sign},.{digits}f}"  # + 0.0 turns -0.0 into 0.0


class Interval(NamedTuple):
    """Number with the ends of its 95% interval."""

    mean: float
    low: float
    high: float

    @property
    def covers_zero(self) -> bool:
        """Return whether the interval contains zero."""
        return self.low <= 0.0 <= self.high

    def percent(self) -> str:
        """Format as a share in percent.

        >>> Interval(0.9103, 0.9044, 0.9158).percent()
        '91.0% [90.4, 91.6]'
        """
        return f"{self.mean:.1%} [{100 * self.low:.1f}, {100 * self.high:.1f}]"

    def points(self) -> str:
        """Format as a difference of shares in percentage points.

        >>> Interval(0.0039, -0.0042, 0.0121).points()
        '+0.39 [-0.42, +1.21]'
        """
        value, low, high = ("0.00" if abs(number) < 5e-5 else f"{100 * number:+.2f}" for number in self)
        return f"{value} [{low}, {high}]"


def interval_in(row: Mapping[str, Any], name: str) -> Interval:
    """Return the interval in the columns `name`, `name_low` and `name_high` of a row.

    >>> interval_in({"share": 0.5, "share_low": 0.4, "share_high": 0.6}, "share")
    Interval(mean=0.5, low=0.4, high=0.6)
    """
    return Interval(row[name], row[f"{name}_low"], row[f"{name}_high"])


def columns_of(one: Estimate | Interval, name: str) -> dict[str, float | None]:
    """Return an estimate as columns of a table, which `estimate_in_row` and `interval_in` can read."""
    return {name: one.mean, f"{name}_low": one.low, f"{name}_high": one.high}


def share(count: int, total: int) -> Interval:
    """Return the share of `count` in `total` with Wilson's score interval.

    >>> [round(end, 4) for end in share(81, 263)]
    [0.308, 0.2553, 0.3662]

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    """
    if not 0 <= count <= total or not total:
        raise InputError("count, total", (count, total), "a count from 0 to the total, and a total of at least 1")
    p, (low, high) = count / total, wilson(count, total)
    # At the ends of the range, rounding could exclude the share itself.
    return Interval(p, min(p, low), max(p, high))


def share_difference(one: Interval, other: Interval) -> Interval:
    """Return the difference of two independent shares with Newcombe's hybrid score interval.

    >>> [round(end, 4) for end in share_difference(share(56, 70), share(48, 80))]
    [0.2, 0.0524, 0.3339]

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.

    """
    difference = one.mean - other.mean
    return Interval(
        difference,
        difference - math.hypot(one.mean - one.low, other.high - other.mean),
        difference + math.hypot(one.high - one.mean, other.mean - other.low),
    )
