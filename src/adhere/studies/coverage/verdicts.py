"""Whether an interval keeps its promise, by how often it did."""

from __future__ import annotations

from adhere.intervals import wilson

LEAST_COVERAGE = 0.94  # of an interval with a level of 95%, in fixed designs
MAX_MISSES = 0.05  # of a confidence sequence, ever
HOLDS, OPEN, FAILS = "holds", "open", "fails"


def covers_enough(n_covering: int, n: int) -> str:
    """At least 94% of the trials; below it, only what chance does not explain is called a failure.

    >>> covers_enough(9450, 10_000), covers_enough(9390, 10_000), covers_enough(9300, 10_000)
    ('holds', 'open', 'fails')
    """
    if n and n_covering / n >= LEAST_COVERAGE:
        return HOLDS
    return FAILS if n and wilson(n_covering, n)[1] < LEAST_COVERAGE else OPEN


def misses_seldom(n_missing: int, n: int, most: float = MAX_MISSES) -> str:
    """At most 5% of the trials; above it, only what chance does not explain is called a failure.

    It fails where the lower 99% limit of the share is above 5%.

    >>> misses_seldom(100, 2000), misses_seldom(110, 2000), misses_seldom(150, 2000)
    ('holds', 'open', 'fails')
    """
    if n and n_missing / n <= most:
        return HOLDS
    return FAILS if n and wilson(n_missing, n, 0.99)[0] > most else OPEN


def worst(verdicts: list[str]) -> str:
    """The verdict on all of several: that on the worst."""
    return max(verdicts, key=(HOLDS, OPEN, FAILS).index, default=OPEN)
