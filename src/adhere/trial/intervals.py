"""95% intervals for what is estimated from a trial's records."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

_Z = NormalDist().inv_cdf(0.975)


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Wilson's interval for a proportion.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    centre, spread = (successes + _Z**2 / 2) / (n + _Z**2), _Z / (n + _Z**2)
    half = spread * math.sqrt(successes * (n - successes) / n + _Z**2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def mean_interval(mean: float, variance: float, n: int) -> tuple[float, float]:
    """Student's interval for the mean of numbers from 0 to 1; a single number says nothing.

    >>> [round(end, 3) for end in mean_interval(0.5, 0.04, 9)]
    [0.346, 0.654]
    """
    if n < 2:
        return 0.0, 1.0
    half = _student(n - 1) * math.sqrt(variance / n)
    return max(0.0, mean - half), min(1.0, mean + half)


def _student(freedom: int) -> float:
    """The 97.5% quantile of Student's t, by summing its density over an angle whose tangent is t / √freedom."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 40_001)
    density = np.cos(angle).clip(0.0) ** (freedom - 1.0)
    below = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return float(np.sqrt(freedom) * np.tan(np.interp(0.975 * below[-1], below, angle)))
