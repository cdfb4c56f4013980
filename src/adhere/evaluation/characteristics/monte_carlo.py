"""Estimates from simulated trials, each with its Monte Carlo standard error and 95% interval.

A quantity that not every trial has stands in two columns: whether a trial has it (0 or 1), and its value, 0 where it
has none. Its mean over the trials that have it is then a ratio of two means, and its error comes by the delta method.
"""

import math
from collections.abc import Callable

import numpy as np

from adhere.evaluation.outcomes import Ints
from adhere.intervals import Z95, Estimate, wilson
from adhere.simulation.measures.moments import Moments
from adhere.simulation.measures.quantiles import ACCURACY, Spread


def probability(moments: Moments, column: int) -> Estimate:
    """The share of trials in which something happens."""
    return share(round(moments.n * float(moments.mean[column])), moments.n)


def share(hits: int, n: int) -> Estimate:
    """A share with Wilson's interval. Where it is 0 or 1 the error is not 0, but a fourth of that interval's width.

    >>> print(share(50, 1000), share(0, 1000))
    0.05 [0.03813, 0.06531] 0 [0, 0.003827]
    """
    low, high = wilson(hits, n)
    error = math.sqrt(hits * (n - hits) / n) / n if 0 < hits < n else (high - low) / (2 * Z95)
    return Estimate(hits / n, error, low, high)


def probability_where_any(moments: Moments, has: int, column: int) -> Estimate | None:
    """The share of trials in which something happens, of those in which it could; None if it could in none."""
    n = round(moments.n * float(moments.mean[has]))
    return share(round(moments.n * float(moments.mean[column])), n) if n else None


def miss_where_any(moments: Moments, has: int, column: int) -> Estimate | None:
    """The share of trials in which something does not happen, of those in which it could."""
    n, hits = (round(moments.n * float(moments.mean[one])) for one in (has, column))
    return share(n - hits, n) if n else None


def mean_where_any(moments: Moments, has: int, column: int) -> Estimate | None:
    """The mean over the trials that have a quantity; None if none has."""
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
    """The root of the mean of squares over the trials that have them; None if none has."""
    of_squares = mean_where_any(moments, has, squared)
    if of_squares is None:
        return None
    root = math.sqrt(max(0.0, of_squares.mean))
    if of_squares.se is None:
        return Estimate(root, None, None, None)
    error = of_squares.se / (2.0 * root) if root else 0.0
    return Estimate(root, error, max(0.0, root - Z95 * error), root + Z95 * error)


def standard_deviation(moments: Moments, first: int, second: int, third: int) -> Estimate | None:
    """The standard deviation over trials, given the columns of the first three powers; None of a single trial."""
    if moments.n < 2:
        return None
    m1, m2, m3 = (float(moments.mean[column]) for column in (first, second, third))
    fourth = _second_moment(moments, second) - 4.0 * m1 * m3 + 6.0 * m1**2 * m2 - 3.0 * m1**4
    variance = float(moments.deviations[first]) / (moments.n - 1)
    deviation = math.sqrt(variance)
    error = math.sqrt(max(0.0, fourth - variance**2) / moments.n) / (2.0 * deviation) if deviation else 0.0
    return Estimate(deviation, error, max(0.0, deviation - Z95 * error), deviation + Z95 * error)


def quantile_of_counts(counts: Ints, q: float) -> Estimate:
    """A quantile of whole numbers, of which there are `counts[number]`; its interval is that of the ranks."""
    totals = np.cumsum(counts)
    n = int(totals[-1])

    def at(level: float) -> float:
        return float(np.searchsorted(totals, min(max(math.ceil(level * n), 1), n)))

    return Estimate(at(q), *_of_ranks(n, q, at))


def quantile_of_spread(spread: Spread, q: float) -> Estimate:
    """A quantile, exactly if all values were kept, else to within 0.5%; its interval is that of the ranks.

    It is as much wider as values are not known exactly.
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
    """The difference of two probabilities on the same patients, with Bonett & Price's (2012) interval.

    Trials in which both designs agree say nothing of the difference, so with `more` and `fewer` that do not, one of
    each is added: where there are none at all, the error is still not 0.
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
    """Error and interval of a quantile: between the ranks that hold it with 95%."""
    reach = Z95 * math.sqrt(q * (1.0 - q) / n)
    low, high = at(max(0.0, q - reach)), at(min(1.0, q + reach))
    return (high - low) / (2.0 * Z95), low, high
