"""Confidence intervals for two groups: Miettinen and Nurminen's for proportions, Fieller's for a ratio.

A value is in the interval if the score test does not refute it. The variance of the test is N/(N − 1) times the
variance at the most likely pair of proportions with that difference (or ratio). If the difference is 0 (or the ratio
is 1), this is the pooled variance. Therefore both intervals and the p-value always agree on whether the arms differ.
Cells of 0 need no special treatment. statsmodels 0.15 has the same interval for the ratio, but a wrong coefficient in
the cubic for the difference (its issue 10269).

References
----------
Miettinen and Nurminen (1985), Statistics in Medicine 4; Farrington and Manning (1990), Statistics in Medicine 9 (the
cubic); Newcombe (1998), Statistics in Medicine 17 (a comparison of eleven methods, and the examples).

"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from adhere.analysis.estimates import ConfidenceSet, Shape, Validity
from adhere.intervals import normal_quantile

_EXACT = 1e-15  # excess that cannot be distinguished from rounding error
_NEAR = 1e-12  # distance from the estimate, where the variance and so the sign that a search needs may vanish


@dataclass(frozen=True)
class TwoProportions:
    """Successes and sizes of two non-empty groups, treated and controls; successes may be fractional."""

    treated: float
    n_treated: float
    controls: float
    n_controls: float

    @property
    def difference(self) -> float:
        """Difference of the proportions."""
        return self.treated / self.n_treated - self.controls / self.n_controls

    @property
    def inflation(self) -> float:
        """N/(N − 1), the factor that makes the pooled variance unbiased."""
        total = self.n_treated + self.n_controls
        return total / (total - 1)

    def variance_at(self, difference: float) -> float:
        """Return the variance of the estimated difference, at the most likely pair with it (root of a cubic)."""
        p, q, t = self.treated / self.n_treated, self.controls / self.n_controls, self.n_controls / self.n_treated
        b = -(1.0 + t + p + t * q + difference * (t + 2.0)) / (3.0 * (1.0 + t))
        c = (difference * (difference + 2.0 * p + t + 1.0) + p + t * q) / (1.0 + t)
        d = -p * difference * (1.0 + difference) / (1.0 + t)
        v = b**3 - b * c / 2.0 + d / 2.0
        u = math.copysign(math.sqrt(max(0.0, b * b - c / 3.0)), v)
        cosine = max(-1.0, min(1.0, v / u**3)) if u else 1.0
        treated = 2.0 * u * math.cos((math.pi + math.acos(cosine)) / 3.0) - b
        slope = (3.0 * treated + 6.0 * b) * treated + c
        if abs(slope) > _NEAR:  # a Newton step restores the digits that the cosine loses
            treated -= (((treated + 3.0 * b) * treated + c) * treated + d) / slope
        treated = max(0.0, difference, min(1.0, 1.0 + difference, treated))
        control = min(1.0, max(0.0, treated - difference))
        return self.inflation * (
            treated * (1.0 - treated) / self.n_treated + control * (1.0 - control) / self.n_controls
        )

    def variance_at_ratio(self, ratio: float) -> float:
        """Return the variance of p₁ − ratio·p₀ at the most likely pair with this ratio."""
        n, m, x, y = self.n_treated, self.n_controls, self.treated, self.controls
        first, second = ratio * (n + y), m + x
        # The discriminant of N·ratio·p² − (first + second)·p + x + y, written so that nothing cancels.
        root = math.sqrt((first - second) ** 2 + 4.0 * ratio * (n - x) * (m - y))
        control = min(1.0, 2.0 * (x + y) / (first + second + root))
        treated = min(1.0, ratio * control)
        return self.inflation * (treated * (1.0 - treated) / n + ratio * ratio * control * (1.0 - control) / m)


def score_difference(pair: TwoProportions, level: float = 0.95) -> tuple[float, float]:
    """Return the ends of the interval of the difference.

    >>> [round(end, 4) for end in score_difference(TwoProportions(56, 70, 48, 80))]
    [0.0528, 0.3382]
    """
    z, estimate = normal_quantile(level), pair.difference

    def excess(difference: float) -> float:
        return abs(estimate - difference) - z * math.sqrt(pair.variance_at(difference))

    return _end(excess, estimate, -1.0), _end(excess, estimate, 1.0)


def score_ratio(pair: TwoProportions, level: float = 0.95) -> tuple[float, float]:
    """Return the ends of the interval of the ratio; there must be at least one success.

    The interval starts at 0 or ends at infinity if an arm has no success.

    >>> [round(end, 4) for end in score_ratio(TwoProportions(56, 70, 48, 80))]
    [1.079, 1.6721]
    """
    z = normal_quantile(level)
    p, q = pair.treated / pair.n_treated, pair.controls / pair.n_controls
    # Map ratios from 0 to ∞ to angles from 0 to 1; an angle of 45° (0.5) is a ratio of 1.
    estimate = math.atan2(p, q) / (math.pi / 2)

    def excess(share: float) -> float:
        ratio, cosine = math.tan(share * math.pi / 2), math.cos(share * math.pi / 2)
        return cosine * (abs(p - ratio * q) - z * math.sqrt(pair.variance_at_ratio(ratio)))

    low = _end(excess, estimate, 0.0) if p else 0.0
    high = _end(excess, estimate, 1.0) if q else 1.0
    return math.tan(low * math.pi / 2), math.tan(high * math.pi / 2) if high < 1.0 else math.inf


def score_p_value(pair: TwoProportions) -> float:
    """Return the two-sided p-value of no difference.

    >>> round(score_p_value(TwoProportions(56, 70, 48, 80)), 5)
    0.00826
    """
    variance = pair.variance_at(0.0)
    return two_sided(pair.difference / math.sqrt(variance)) if variance > 0.0 else 1.0


def two_sided(z: float) -> float:
    """Return the two-sided p-value of a standard normal statistic."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def _end(excess: Callable[[float], float], inside: float, outside: float) -> float:
    """Return the root of the excess between the estimate and the end of the range, by the Illinois method.

    The excess is nearly linear, so that this takes half as many steps as a general method.
    """
    a = inside + math.copysign(_NEAR, outside - inside)
    if abs(outside - inside) <= 2.0 * _NEAR or (below := excess(a)) >= 0.0:
        return inside
    b = outside
    if (above := excess(b)) <= 0.0:
        return outside
    last = 0.0
    for _ in range(100):
        c = (a * above - b * below) / (above - below)
        found = excess(c)
        if abs(found) < _EXACT or not min(a, b) < c < max(a, b):
            break
        if found > 0.0:
            b, above = c, found
            below *= 0.5 if last > 0.0 else 1.0
        else:
            a, below = c, found
            above *= 0.5 if last < 0.0 else 1.0
        last = found
    return c


def fieller(
    numerator: float,
    denominator: float,
    var_numerator: float,
    var_denominator: float,
    covariance: float,
    level: float = 0.95,
    *,
    method: str = "Fieller",
    validity: Validity = Validity.FIXED,
) -> ConfidenceSet:
    """Return the set of all θ for which numerator − θ·denominator does not differ from 0, by its standard error at θ.

    These are the θ with (N − θD)² ≤ z²(v_N − 2θc + θ²v_D), a quadratic inequality. If D itself differs from 0, the
    set is an interval. Otherwise it is the whole line or the complement of an interval. For a Wald estimate with
    variances within the arms, this is the heteroskedasticity-robust Anderson–Rubin set.

    >>> print(fieller(2.0, 4.0, 0.01, 0.01, 0.0))
    [0.446, 0.556]
    >>> print(fieller(2.0, 0.1, 0.01, 0.01, 0.0))
    unbounded: below -20.785 or above 6.708

    References
    ----------
    Fieller (1954), Journal of the Royal Statistical Society B 16; Anderson and Rubin (1949), Annals of Mathematical
    Statistics 20; Andrews, Stock and Sun (2019), Annual Review of Economics 11.

    """
    z2 = normal_quantile(level) ** 2
    a = denominator * denominator - z2 * var_denominator
    half_b = z2 * covariance - numerator * denominator
    c = numerator * numerator - z2 * var_numerator
    shape, low, high = _at_most_zero(a, half_b, c)
    if denominator != 0.0:  # the estimate itself solves the inequality, despite rounding
        estimate = numerator / denominator
        if shape is Shape.INTERVAL:
            low, high = min(low, estimate), max(high, estimate)
        elif shape is Shape.OUTSIDE and low < estimate < high:
            low, high = (estimate, high) if estimate - low < high - estimate else (low, estimate)
    return ConfidenceSet(low, high, method, validity, shape, level)


def _at_most_zero(a: float, half_b: float, c: float) -> tuple[Shape, float, float]:
    """Return the shape and ends of the set where a·θ² + 2·half_b·θ + c ≤ 0."""
    everything = Shape.EVERYTHING, -math.inf, math.inf
    if a == 0.0:
        if half_b == 0.0:
            return everything if c <= 0.0 else (Shape.EMPTY, math.inf, -math.inf)
        end = -c / (2.0 * half_b)
        return (Shape.INTERVAL, -math.inf, end) if half_b > 0 else (Shape.INTERVAL, end, math.inf)
    discriminant = half_b * half_b - a * c
    if discriminant <= 0.0:
        if a < 0.0:
            return everything
        return Shape.INTERVAL, -half_b / a, -half_b / a
    # Compute the root with the larger absolute value first; the other follows from their product without
    # cancellation.
    larger = -(half_b + math.copysign(math.sqrt(discriminant), half_b))
    low, high = sorted((larger / a, c / larger))
    return (Shape.INTERVAL if a > 0.0 else Shape.OUTSIDE), low, high
