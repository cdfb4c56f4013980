"""Fieller's confidence set for a ratio of two means, bounded or not."""

from __future__ import annotations

import math

from adhere.analysis.confidence_set import ConfidenceSet, Shape, Validity
from adhere.intervals import normal_quantile


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
    """All θ for which numerator − θ·denominator does not differ from 0, by its own standard error at θ.

    These are the θ with (N − θD)² ≤ z²(v_N − 2θc + θ²v_D), a quadratic inequality. Where D itself differs from 0 they
    are an interval; where it does not, everything, or all but an interval. For a Wald estimate with variances taken
    within the arms this is the heteroskedasticity-robust Anderson–Rubin set.

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
    if denominator != 0.0:  # the estimate itself solves the inequality, whatever rounding says
        estimate = numerator / denominator
        if shape is Shape.INTERVAL:
            low, high = min(low, estimate), max(high, estimate)
        elif shape is Shape.OUTSIDE and low < estimate < high:
            low, high = (estimate, high) if estimate - low < high - estimate else (low, estimate)
    return ConfidenceSet(low, high, method, validity, shape, level)


def _at_most_zero(a: float, half_b: float, c: float) -> tuple[Shape, float, float]:
    """Where a·θ² + 2·half_b·θ + c ≤ 0."""
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
    # The root of the larger size first: the other follows from their product without cancellation.
    larger = -(half_b + math.copysign(math.sqrt(discriminant), half_b))
    low, high = sorted((larger / a, c / larger))
    return (Shape.INTERVAL if a > 0.0 else Shape.OUTSIDE), low, high
