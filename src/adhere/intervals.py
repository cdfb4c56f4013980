"""Means and their intervals, at 95% by default."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

Z95 = 1.959963984540054  # standard errors from the centre to each end of a 95% interval
_NEARLY_NORMAL = 1e17  # with more degrees of freedom, Student's t equals the normal distribution to the last digit
_MAX_STEPS = 100  # Newton's method needs about ten


@dataclass(frozen=True)
class Estimate:
    """A mean over runs with its Monte Carlo standard error and 95% interval; None if there is only one run.

    >>> print(Estimate(49996.2, 1.0, 49994.2, 49998.2), Estimate(0.5, None, None, None))
    49,996 [49,994, 49,998] 0.5
    """

    mean: float
    se: float | None
    low: float | None
    high: float | None

    def __neg__(self) -> Estimate:
        if self.low is None or self.high is None:
            return replace(self, mean=-self.mean)
        return Estimate(-self.mean, self.se, -self.high, -self.low)

    def __str__(self) -> str:
        interval = "" if self.low is None or self.high is None else f" [{_short(self.low)}, {_short(self.high)}]"
        return f"{_short(self.mean)}{interval}"

    def __repr__(self) -> str:
        return f"<Estimate: {self}>"


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def normal_quantile(level: float) -> float:
    """Return how many standard errors an interval of this level reaches to each side, if errors are normal.

    At 95% it equals `Z95` except for the last bit, on which Wilson's intervals in data files depend.
    """
    return -NormalDist().inv_cdf((1.0 - level) / 2.0) if level < 1.0 else math.inf


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval for a proportion (Wilson 1927).

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    z = normal_quantile(level)
    centre, spread = (successes + z**2 / 2) / (n + z**2), z / (n + z**2)
    half = spread * math.sqrt(successes * (n - successes) / n + z**2 / 4)
    # At the ends, rounding could otherwise put the share itself just outside the interval.
    return (max(0.0, centre - half) if successes else 0.0), (min(1.0, centre + half) if successes < n else 1.0)


def mean_interval(mean: float, variance: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval for the mean of numbers from 0 to 1; for a single number it is [0, 1].

    >>> [round(end, 3) for end in mean_interval(0.5, 0.04, 9)]
    [0.346, 0.654]
    """
    if n < 2:
        return 0.0, 1.0
    half = student_quantile(n - 1, level) * math.sqrt(variance / n)
    return max(0.0, mean - half), min(1.0, mean + half)


@dataclass
class RewardSums:
    """Rewards of one arm in one analysis set."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    binary: bool = True

    def add(self, reward: float, times: int = 1) -> None:
        """Count a reward of `times` patients."""
        self.n += times
        self.total += times * reward
        self.squares += times * reward * reward
        self.binary = self.binary and reward in (0.0, 1.0)

    def estimate(self) -> tuple[float | None, float, float]:
        """Return the mean and its 95% interval; without rewards the mean is None and the interval [0, 1].

        >>> sums = RewardSums()
        >>> sums.add(1.0, 8), sums.add(0.0, 2), [round(number, 3) for number in sums.estimate()]
        (None, None, [0.8, 0.49, 0.943])
        """
        if not self.n:
            return None, 0.0, 1.0
        mean = self.total / self.n
        if self.binary:
            return mean, *wilson(self.total, self.n)
        variance = max(0.0, self.squares - self.n * mean * mean) / max(1, self.n - 1)
        return mean, *mean_interval(mean, variance, self.n)


def t95(freedom: float) -> float:
    """Return how many standard errors a 95% interval reaches to each side, by Student's t with `freedom` degrees.

    >>> round(t95(1), 3), round(t95(7), 3), round(t95(10_000), 3)
    (12.706, 2.365, 1.96)
    """
    return student_quantile(freedom, 0.95)


@lru_cache(maxsize=4096)
def student_quantile(freedom: float, level: float) -> float:
    """Return how many standard errors an interval of this level reaches to each side, by Student's t.

    >>> round(student_quantile(7, 0.9), 3)
    1.895
    """
    if level >= 1.0:
        return math.inf
    if freedom > _NEARLY_NORMAL:
        return normal_quantile(level)
    # With t = √freedom · sinh(s) the density is proportional to cosh(s)^-freedom, and the log of the probability
    # above s is concave: Newton's method overshoots once, then falls to the root.
    wanted = math.log1p(-level) + math.log(_mills_ratio(0.0, freedom))
    s = 0.0
    for _ in range(_MAX_STEPS):
        ratio = _mills_ratio(s, freedom)
        step = ratio * (math.log(ratio) - freedom * math.log1p(2.0 * math.sinh(s / 2.0) ** 2) - wanted)
        s += step
        if abs(step) <= 1e-13 * s:
            break
    return math.sqrt(freedom) * math.sinh(s)


def _mills_ratio(s: float, freedom: float) -> float:
    """Return the integral of cosh(x)^-freedom over x > s, divided by cosh(s)^-freedom.

    It is computed by double exponential quadrature (Takahasi & Mori 1974).
    """
    import numpy as np  # imported here, so that `adhere --help` does not wait for it

    at, width = np.linspace(-4.5, 5.0, 96), 1.0 / (freedom * math.tanh(s) + min(freedom, math.sqrt(freedom)))
    with np.errstate(over="ignore", under="ignore"):
        beyond = width * np.exp(at - np.exp(-at))
        rise = 2.0 * np.sinh(beyond / 2.0) ** 2 + math.tanh(s) * np.sinh(beyond)  # cosh(s + beyond) / cosh(s) - 1
        integrand = np.exp(-freedom * np.log1p(rise)) * beyond * (1.0 + np.exp(-at))
    return float(integrand.sum() * (at[1] - at[0]))
