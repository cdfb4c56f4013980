"""Count how often an interval contained the truth and a test raised an alarm, and judge whether they keep their
promises.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from adhere.analysis.estimates import ConfidenceSet, Shape
from adhere.intervals import wilson

LEAST_COVERAGE = 0.94  # of a 95% interval in fixed designs
MAX_MISSES = 0.05  # of a confidence sequence, at any time
HOLDS, OPEN, FAILS = "holds", "open", "fails"


def covers_enough(n_covering: int, n: int) -> str:
    """Judge coverage: "holds" from 94% on, "fails" if chance does not explain the shortfall, otherwise "open".

    >>> covers_enough(9450, 10_000), covers_enough(9390, 10_000), covers_enough(9300, 10_000)
    ('holds', 'open', 'fails')
    """
    if n and n_covering / n >= LEAST_COVERAGE:
        return HOLDS
    return FAILS if n and wilson(n_covering, n)[1] < LEAST_COVERAGE else OPEN


def misses_seldom(n_missing: int, n: int, most: float = MAX_MISSES) -> str:
    """Judge misses: "holds" up to 5%, "fails" if chance does not explain the excess, otherwise "open".

    They fail if the lower 99% limit of their share is above 5%.

    >>> misses_seldom(100, 2000), misses_seldom(110, 2000), misses_seldom(150, 2000)
    ('holds', 'open', 'fails')
    """
    if n and n_missing / n <= most:
        return HOLDS
    return FAILS if n and wilson(n_missing, n, 0.99)[0] > most else OPEN


def worst(verdicts: list[str]) -> str:
    """Return the worst of several verdicts."""
    return max(verdicts, key=(HOLDS, OPEN, FAILS).index, default=OPEN)


class Interval(NamedTuple):
    """A kind of interval: its quantity, method and promise. It is `judged` only if it promises coverage.

    `promise` is a `Validity`'s value. Intervals that are not judged are shown for comparison.
    """

    view: str
    quantity: str
    method: str
    promise: str
    judged: bool


class Reported(NamedTuple):
    """An interval as an analysis reported it (None: not given), and the true value.

    `given` may also be just whether the interval contains the true value.
    """

    interval: Interval
    truth: float
    given: ConfidenceSet | bool | None


@dataclass
class Tally:
    """Counts of the intervals of one kind over many trials."""

    truth: float = math.nan  # NaN for a test, which counts alarms
    n: int = 0
    n_covering: int = 0
    n_unbounded: int = 0
    n_empty: int = 0
    widths: array[float] = field(default_factory=lambda: array("d"))  # millions of widths in all
    weights: array[int] = field(default_factory=lambda: array("l"))

    def add(self, given: ConfidenceSet | bool | None, times: int = 1) -> None:
        """Count an interval that occurred in `times` trials. None means that it was not given."""
        if given is None:
            return
        self.n += times
        if isinstance(given, bool):
            self.n_covering += times * given
            return
        is_empty = given.shape is Shape.EMPTY
        self.n_covering += times * (self.truth in given)
        self.n_unbounded += times * (not given.is_bounded)
        self.n_empty += times * is_empty
        self.widths.append(0.0 if is_empty else given.high - given.low if given.is_bounded else math.inf)
        self.weights.append(times)

    def join(self, other: Tally) -> None:
        """Add the counts of another tally."""
        for name in ("n", "n_covering", "n_unbounded", "n_empty"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.widths.extend(other.widths)
        self.weights.extend(other.weights)

    @property
    def median_width(self) -> float | None:
        """The median width of the intervals with known ends, or None if at least half are unbounded."""
        if not self.widths:
            return None
        order = np.argsort(self.widths)
        upto = np.cumsum(np.array(self.weights)[order])
        width = float(np.array(self.widths)[order][np.searchsorted(upto, upto[-1] / 2)])
        return width if math.isfinite(width) else None


class Test(NamedTuple):
    """A test of a hypothesis that is true or false here. It is `judged` if it promises few false alarms."""

    name: str
    hypothesis: str
    is_true: bool
    judged: bool


class Alarm(NamedTuple):
    """Whether a test rejected its hypothesis in a trial; None if it could not decide."""

    test: Test
    raised: bool | None
