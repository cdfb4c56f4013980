"""Comparison of the means of arms under independent Beta posteriors, by quadrature exact to about 1e-7.

All integrals are over z = logit θ. On this scale a Beta density is smooth and bell-shaped with exponential tails for
all parameters of at least 1. Therefore sums over equal steps converge faster than any power of the step. The
distribution function at a node is the sum up to this node, corrected by the first terms of the Euler–Maclaurin
formula. For the distribution functions at θ + margin the steps in z are unequal, so they are computed by a two-point
rule that is exact for polynomials of degree five.

No memory is allocated: `work` has N_ROWS rows with one number per arm. Densities are normalised only at the end.
"""

import math
from typing import Any, Final

from adhere.compilation import inline, no_inline

# Rows, by arm: the parameters, the logarithm of the maximum of the density, and the result. Then, at a node, the
# density, its sum so far, and the distribution function. Then the distribution function at θ + margin, with the
# density and its derivatives at the last point there.
ALPHA, BETA, TOP, RESULT, DENSITY, SUM, BELOW, AHEAD, LAST_0, LAST_1, LAST_2, N_ROWS = range(12)
_DEPTH: Final = 17.0  # a tail is cut where the log density is this far below its maximum
_REACH: Final = math.sqrt(2.0 * _DEPTH)  # the cut in standard deviations, for a normal density
_CUT: Final = _DEPTH + 4.0  # a density this far below its maximum counts as 0
_STEPS: Final = 2.5  # steps per standard deviation
_SQRT_2_PI: Final = math.sqrt(2.0 * math.pi)


@no_inline
def set_posterior(n_arms: int, place: int, n: float, total: float, is_reflected: bool, work: Any) -> None:
    """Write the parameters of one arm's posterior into `work`: θ ~ Beta(1 + Σy, 1 + n - Σy).

    If `is_reflected`, write those of the posterior of 1 - θ. `place` is the arm's index among the `n_arms` compared.
    """
    alpha, beta = 1.0 + max(0.0, total), 1.0 + max(0.0, n - total)
    if is_reflected:
        alpha, beta = beta, alpha
    scale = _SQRT_2_PI * math.sqrt(1.0 / alpha + 1.0 / beta)  # so that densities sum to about 1
    work[ALPHA * n_arms + place], work[BETA * n_arms + place] = alpha, beta
    work[TOP * n_arms + place] = (
        alpha * math.log(alpha / beta) - (alpha + beta) * math.log1p(alpha / beta) + math.log(scale)
    )


@inline
def tail_end(alpha: float, beta: float, deviation: float, side: float) -> float:
    """Return the point z in a tail where the log density is _DEPTH below its maximum, or slightly further out.

    The log density is concave. Therefore Newton's method is beyond this point after one step, wherever it starts,
    and stays beyond it.
    """
    mode = math.log(alpha / beta)
    top = alpha * mode - (alpha + beta) * math.log1p(alpha / beta)
    z = mode + side * _REACH * deviation
    for _ in range(2):
        odds = math.exp(z)
        height = alpha * z - (alpha + beta) * math.log1p(odds) - top + _DEPTH
        z -= height / (alpha - (alpha + beta) * odds / (1.0 + odds))
    return z


@inline
def density_at(alpha: float, beta: float, top: float, z: float, log_odds_1: float) -> float:
    """Return the density at z relative to its maximum, given log(1 + odds) at z; 0 far out in a tail."""
    height = alpha * z - (alpha + beta) * log_odds_1 - top
    return math.exp(height) if height > -_CUT else 0.0


@no_inline
def compare_posteriors(n_arms: int, margin: float, work: Any) -> float:
    """Compute the probability that each θ_j is the largest, and write these probabilities into row RESULT of `work`.

    If the margin is positive, write P(θ_i < θ_j + margin for all others i) for each arm j instead, and return
    P(largest - smallest θ < margin). If θ_j may be above 1 - margin and an arm has hardly any failures, the
    distribution function at θ + margin has a kink. Therefore callers reflect posteriors with means above 1/2.
    """
    start, end, step = math.inf, -math.inf, math.inf
    for arm in range(n_arms):
        alpha, beta = work[ALPHA * n_arms + arm], work[BETA * n_arms + arm]
        deviation = math.sqrt(1.0 / alpha + 1.0 / beta)
        step = min(step, deviation / _STEPS)
        start = min(start, tail_end(alpha, beta, deviation, -1.0))
        end = max(end, tail_end(alpha, beta, deviation, 1.0))
        work[SUM * n_arms + arm], work[RESULT * n_arms + arm], work[AHEAD * n_arms + arm] = 0.0, 0.0, 0.0
        work[LAST_0 * n_arms + arm], work[LAST_1 * n_arms + arm], work[LAST_2 * n_arms + arm] = 0.0, 0.0, 0.0
    reached, within, total, reach = start, 0.0, 1.0 / step, AHEAD if margin > 0.0 else BELOW
    for node in range(int((end - start) / step) + 2):
        z = start + step * node
        odds = math.exp(z)
        log_odds_1, x = math.log1p(odds), odds / (1.0 + odds)
        for arm in range(n_arms):
            alpha, beta = work[ALPHA * n_arms + arm], work[BETA * n_arms + arm]
            density = density_at(alpha, beta, work[TOP * n_arms + arm], z, log_odds_1)
            slope, curve = alpha - (alpha + beta) * x, -(alpha + beta) * x * (1.0 - x)
            third = slope * (slope * slope + 3.0 * curve) + curve * (1.0 - 2.0 * x)
            before = work[SUM * n_arms + arm]
            below = step * (before + density * (0.5 + step * (step * step * third / 720.0 - slope / 12.0)))
            work[BELOW * n_arms + arm] = max(0.0, below)
            work[DENSITY * n_arms + arm] = density
            work[SUM * n_arms + arm] = before + density
        if margin > 0.0:
            z_ahead = end
            if x + margin < 1.0:
                z_ahead = min(end, math.log((x + margin) / (1.0 - x - margin)))
            while reached < z_ahead:
                n_steps = int((z_ahead - reached) / step) + 1
                width = (z_ahead - reached) / n_steps
                reached = z_ahead if n_steps == 1 else reached + width
                go_ahead(n_arms, reached, width, work)
        for arm in range(n_arms):
            below, between = work[DENSITY * n_arms + arm], work[DENSITY * n_arms + arm]
            for other in range(n_arms):
                if other != arm:
                    below *= work[reach * n_arms + other]
                    between *= max(0.0, work[AHEAD * n_arms + other] - work[BELOW * n_arms + other])
            work[RESULT * n_arms + arm] += below
            within += between
    for arm in range(n_arms):
        total *= step * work[SUM * n_arms + arm]
    for arm in range(n_arms):
        work[RESULT * n_arms + arm] = min(1.0, work[RESULT * n_arms + arm] / total)
    return min(1.0, within / total)


@inline
def go_ahead(n_arms: int, z: float, width: float, work: Any) -> None:
    """Add the integral over a step of this width that ends at z to the distribution functions at θ + margin."""
    odds = math.exp(z)
    log_odds_1, x = math.log1p(odds), odds / (1.0 + odds)
    for arm in range(n_arms):
        alpha, beta = work[ALPHA * n_arms + arm], work[BETA * n_arms + arm]
        density = density_at(alpha, beta, work[TOP * n_arms + arm], z, log_odds_1)
        slope = alpha - (alpha + beta) * x
        first, second = density * slope, density * (slope * slope - (alpha + beta) * x * (1.0 - x))
        work[AHEAD * n_arms + arm] += width * (
            0.5 * (work[LAST_0 * n_arms + arm] + density)
            + width * 0.1 * (work[LAST_1 * n_arms + arm] - first)
            + width * width * (work[LAST_2 * n_arms + arm] + second) / 120.0
        )
        work[LAST_0 * n_arms + arm], work[LAST_1 * n_arms + arm] = density, first
        work[LAST_2 * n_arms + arm] = second
