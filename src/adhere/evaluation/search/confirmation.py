"""What so many trials say of a rate: Clopper and Pearson's exact limits."""

from __future__ import annotations

import math
from collections.abc import Callable

_MAX_STEPS = 100_000  # of the continued fraction; it needs about the root of the number of trials
_SMALLEST = 1e-300


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Exact limits of a proportion (Clopper & Pearson 1934); each is wrong with at most half of 1 - level.

    >>> [round(limit, 4) for limit in clopper_pearson(45, 1000)]
    [0.033, 0.0598]
    """
    tail, failures = (1.0 - level) / 2.0, n - successes
    low = 0.0 if successes == 0 else _root(lambda p: _beta_cdf(p, successes, failures + 1) - tail)
    high = 1.0 if failures == 0 else _root(lambda p: _beta_cdf(p, successes + 1, failures) - (1.0 - tail))
    return low, high


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0


def _beta_cdf(p: float, a: float, b: float) -> float:
    """The incomplete Beta function, by its continued fraction (Lentz's method; DLMF 8.17.22)."""
    if p > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta_cdf(1.0 - p, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(p) + b * math.log1p(-p)
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(_MAX_STEPS):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2:
            term = -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / (1.0 + term * d or _SMALLEST)
        c = 1.0 + term / c or _SMALLEST
        fraction *= c * d
        if step and abs(c * d - 1.0) < 1e-14:
            break
    return math.exp(log_front) * (fraction - 1.0) / a
