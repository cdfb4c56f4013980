"""Estimates from simulated trials, with Monte Carlo standard errors and 95% intervals.

A quantity that not every trial has uses two columns: whether a trial has it (0 or 1), and its value (0 if the trial
does not have it). Its mean over the trials that have it is a ratio of two means, and its error is from the delta
method.
"""

import math
from collections.abc import Callable

import numpy as np

from adhere.evaluation.outcomes import Ints
from adhere.intervals import Z95, Estimate, wilson
from adhere.simulation.measures.moments import Moments
from adhere.simulation.measures.quantiles import ACCURACY, Spread


def probability(moments: Moments, column: int) -> Estimate:
    """Return the share of trials in which an event happens."""
    return share(round(moments.n * float(moments.mean[column])), moments.n)


def share(hits: int, n: int) -> Estimate:
    """Return a share with Wilson's interval.

    If the share is 0 or 1, the error is not 0 but about a fourth of the interval's width.

    >>> print(share(50, 1000), share(0, 1000))
    0.05 [0.03813, 0.06531] 0 [0, 0.003827]
    """
    low, high = wilson(hits, n)
    error = math.sqrt(hits * (n - hits) / n) / n if 0 < hits < n else (high - low) / (2 * Z95)
    return Estimate(hits / n, error, low, high)


def probability_where_any(moments: Moments, has: int, column: int) -> Estimate | None:
    """Return the share of trials with an event, among trials in which it can happen; None without such trials."""
    n = round(moments.n * float(moments.mean[has]))
    return share(round(moments.n * float(moments.mean[column])), n) if n else None


def miss_where_any(moments: Moments, has: int, column: int) -> Estimate | None:
    """Return the share of trials without an event, among trials in which it can happen; None without such trials."""
    n, hits = (round(moments.n * float(moments.mean[one])) for one in (has, column))
    return share(n - hits, n) if n else None


def mean_where_any(moments: Moments, has: int, column: int) -> Estimate | None:
    """Return the mean of a quantity over the trials that have it; None if no trial has it."""
    part, total = float(moments.mean[has]), float(moments.mean[column])
    if part == 0.0:
        return None
    ratio = total / part
    # E[(value - ratio · has)²], where has · value = value
    spread = _second_moment(moments, column) - 2.0 * ratio * total + ratio**2 * part
    if moments.n < 2:
        return Estimate(ratio, None, None, None)
    error = math.sqrt(max(0.0, spread)) / part / math.sqrt(moments.n)
    return Estimate(ratio, error, ratio - Z95 * error, ratio + Z95 * error)


def root_mean_square(moments: Moments, has: int, squared: int) -> Estimate | None:
    """Return the root mean square of a quantity over the trials that have it; None if no trial has it."""
    of_squares = mean_where_any(moments, has, squared)
    if of_squares is None:
        return None
    root = math.sqrt(max(0.0, of_squares.mean))
    if of_squares.se is None:
        return Estimate(root, None, None, None)
    error = of_squares.se / (2.0 * root) if root else 0.0
    return Estimate(root, error, max(0.0, root - Z95 * error), root + Z95 * error)


def standard_deviation(moments: Moments, first: int, second: int, third: int) -> Estimate | None:
    """Return the standard deviation of a quantity, given the columns of its first three powers; None for one."""
    if moments.n < 2:
        return None
    m1, m2, m3 = (float(moments.mean[column]) for column in (first, second, third))
    fourth = _second_moment(moments, second) - 4.0 * m1 * m3 + 6.0 * m1**2 * m2 - 3.0 * m1**4
    variance = float(moments.deviations[first]) / (moments.n - 1)
    deviation = math.sqrt(variance)
    error = math.sqrt(max(0.0, fourth - variance**2) / moments.n) / (2.0 * deviation) if deviation else 0.0
    return Estimate(deviation, error, max(0.0, deviation - Z95 * error), deviation + Z95 * error)


def quantile_of_counts(counts: Ints, q: float) -> Estimate:
    """Return a quantile of whole numbers, given their counts, with an interval based on ranks."""
    totals = np.cumsum(counts)
    n = int(totals[-1])

    def at(level: float) -> float:
        return float(np.searchsorted(totals, min(max(math.ceil(level * n), 1), n)))

    return Estimate(at(q), *_of_ranks(n, q, at))


def quantile_of_spread(spread: Spread, q: float) -> Estimate:
    """Return a quantile, exact or within 0.5%, with an interval based on ranks.

    The quantile is exact if all values were stored. Otherwise the interval is widened by the inaccuracy of values.
    """
    if spread.is_exact:
        place = quantile_of_counts(spread.counts, q)
        middle, low, high = (float(spread.values[int(one)]) for one in (place.mean, place.low or 0, place.high or 0))
        return Estimate(middle, (high - low) / (2.0 * Z95), low, high)
    sketch = spread.sketch
    error, low, high = _of_ranks(int(sketch.counts.sum()), q, sketch.quantile)
    low, high = low - ACCURACY * abs(low), high + ACCURACY * abs(high)
    return Estimate(sketch.quantile(q), error, max(low, sketch.lowest), min(high, sketch.highest))


def paired_probability_difference(differences: Moments, column: int) -> Estimate:
    """Return the difference of two probabilities on the same patients, with Bonett & Price's (2012) interval.

    Only trials in which the designs disagree are informative: `more` in one direction, `fewer` in the other. One of
    each is added, so that the error is positive even if the designs never disagree.
    """
    n = differences.n
    balance = round(n * float(differences.mean[column]))
    unlike = round(n * _second_moment(differences, column))
    more, fewer = (unlike + balance) / 2, (unlike - balance) / 2
    above, below = (more + 1) / (n + 2), (fewer + 1) / (n + 2)
    error = math.sqrt((above + below - (above - below) ** 2) / (n + 2))
    middle = above - below
    return Estimate(balance / n, error, max(-1.0, middle - Z95 * error), min(1.0, middle + Z95 * error))


def _second_moment(moments: Moments, column: int) -> float:
    return float(moments.deviations[column]) / moments.n + float(moments.mean[column]) ** 2


def _of_ranks(n: int, q: float, at: Callable[[float], float]) -> tuple[float, float, float]:
    """Return the standard error of a quantile, and both ends of its 95% interval, which is based on ranks."""
    reach = Z95 * math.sqrt(q * (1.0 - q) / n)
    low, high = at(max(0.0, q - reach)), at(min(1.0, q + reach))
    return (high - low) / (2.0 * Z95), low, high
