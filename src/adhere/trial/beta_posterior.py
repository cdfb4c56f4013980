"""How the means of arms compare under independent Beta posteriors: probabilities by quadrature, exact to about 1e-7.

Everything is integrated over z = logit θ. There a Beta density is smooth, bell-shaped and ends in exponential tails,
whatever its parameters (which are at least 1 here), so that sums over equal steps converge faster than any power of
the step. The distribution functions are the same sums up to a node, with the first terms of Euler's and Maclaurin's
formula. Those at θ + margin, whose steps in z are not equal, are added up by the two-point rule that is exact for
polynomials of degree five.

Nothing is allocated: `work` holds N_ROWS rows of one number for each arm. Densities are not normalised until the end.
"""

from __future__ import annotations

import math
from typing import Any, Final

from adhere.compilation import inline, no_inline

# The parameters of each arm, the logarithm of its density's top, whether it is compared (1 or 0), and the result; its
# density, its sum so far and its distribution function at a node; the distribution function at θ + margin, and
# density and derivatives at the end of that.
ALPHA, BETA, TOP, COMPARED, RESULT, DENSITY, SUM, BELOW, AHEAD, LAST_0, LAST_1, LAST_2, N_ROWS = range(13)
_DEPTH: Final = 17.0  # the logarithm of top over density at which a tail is cut
_REACH: Final = math.sqrt(2.0 * _DEPTH)  # in standard deviations, were the density a normal one
_CUT: Final = _DEPTH + 4.0  # below which a density counts as 0
_STEPS: Final = 2.5  # in a standard deviation
_SQRT_2_PI: Final = math.sqrt(2.0 * math.pi)


@no_inline
def set_posteriors(n_arms: int, n: Any, sums: Any, is_reflected: bool, work: Any) -> None:
    """Write θ ~ Beta(1 + Σy, 1 + n - Σy) of each arm, or 1 - θ."""
    for arm in range(n_arms):
        alpha, beta = 1.0 + max(0.0, sums[arm]), 1.0 + max(0.0, n[arm] - sums[arm])
        if is_reflected:
            alpha, beta = beta, alpha
        scale = _SQRT_2_PI * math.sqrt(1.0 / alpha + 1.0 / beta)  # so that densities add up to about 1
        work[ALPHA * n_arms + arm], work[BETA * n_arms + arm] = alpha, beta
        work[TOP * n_arms + arm] = (
            alpha * math.log(alpha / beta) - (alpha + beta) * math.log1p(alpha / beta) + math.log(scale)
        )


@no_inline
def nodes_over(n_arms: int, work: Any) -> tuple[float, float, int]:
    """The first node, the step, and how many nodes cover the posteriors that are compared."""
    low, high, finest = math.inf, -math.inf, math.inf
    for arm in range(n_arms):
        if work[COMPARED * n_arms + arm] > 0.0:
            alpha, beta = work[ALPHA * n_arms + arm], work[BETA * n_arms + arm]
            deviation = math.sqrt(1.0 / alpha + 1.0 / beta)
            finest = min(finest, deviation)
            low = min(low, tail_end(alpha, beta, deviation, -1.0))
            high = max(high, tail_end(alpha, beta, deviation, 1.0))
    step = finest / _STEPS
    return low, step, int((high - low) / step) + 2


@inline
def tail_end(alpha: float, beta: float, deviation: float, side: float) -> float:
    """Where the density has fallen by _DEPTH, or a little further out.

    Newton's method on a concave function: from any start it is outside after one step, and stays there.
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
def take_node(n_arms: int, z: float, step: float, work: Any) -> None:
    """Write densities and distribution functions at the next node."""
    odds = math.exp(z)
    log_odds_1, x = math.log1p(odds), odds / (1.0 + odds)
    for arm in range(n_arms):
        if work[COMPARED * n_arms + arm] > 0.0:
            alpha, beta = work[ALPHA * n_arms + arm], work[BETA * n_arms + arm]
            height = alpha * z - (alpha + beta) * log_odds_1 - work[TOP * n_arms + arm]
            density = math.exp(height) if height > -_CUT else 0.0
            slope, curve = alpha - (alpha + beta) * x, -(alpha + beta) * x * (1.0 - x)
            third = slope * (slope * slope + 3.0 * curve) + curve * (1.0 - 2.0 * x)
            before = work[SUM * n_arms + arm]
            below = step * (before + density * (0.5 + step * (step * step * third / 720.0 - slope / 12.0)))
            work[BELOW * n_arms + arm] = max(0.0, below)
            work[DENSITY * n_arms + arm] = density
            work[SUM * n_arms + arm] = before + density


@no_inline
def probabilities_of_being_best(n_arms: int, work: Any) -> None:
    """Write P(θ_j is the largest) among the arms that are compared into their results."""
    for arm in range(n_arms):
        work[SUM * n_arms + arm], work[RESULT * n_arms + arm] = 0.0, 0.0
    start, step, n_nodes = nodes_over(n_arms, work)
    for node in range(n_nodes):
        take_node(n_arms, start + step * node, step, work)
        for arm in range(n_arms):
            if work[COMPARED * n_arms + arm] > 0.0:
                product = work[DENSITY * n_arms + arm]
                for other in range(n_arms):
                    if other != arm and work[COMPARED * n_arms + other] > 0.0:
                        product *= work[BELOW * n_arms + other]
                work[RESULT * n_arms + arm] += product
    total = 0.0
    for arm in range(n_arms):
        total += work[RESULT * n_arms + arm]
    for arm in range(n_arms):
        work[RESULT * n_arms + arm] /= total


@no_inline
def probability_within(n_arms: int, margin: float, work: Any) -> float:
    """P(largest - smallest θ < margin) among the arms that are compared.

    The result of arm j is P(θ_i < θ_j + margin for all others i). Where an arm's θ may well be above 1 - margin and
    is near 1 with few outcomes, the integrand has a kink; posteriors with means above 1/2 are better reflected.
    """
    for arm in range(n_arms):
        work[SUM * n_arms + arm], work[RESULT * n_arms + arm], work[AHEAD * n_arms + arm] = 0.0, 0.0, 0.0
    start, step, n_nodes = nodes_over(n_arms, work)
    end, reached, within = start + step * (n_nodes - 1), start, 0.0
    go_ahead(n_arms, start, 0.0, work)
    for node in range(n_nodes):
        z = start + step * node
        ahead = 1.0 / (1.0 + math.exp(-z)) + margin
        z_ahead = end
        if ahead < 1.0:
            z_ahead = min(end, math.log(ahead / (1.0 - ahead)))
        while reached < z_ahead:
            n_steps = int((z_ahead - reached) / step) + 1
            width = (z_ahead - reached) / n_steps
            reached = z_ahead if n_steps == 1 else reached + width
            go_ahead(n_arms, reached, width, work)
        take_node(n_arms, z, step, work)
        for arm in range(n_arms):
            if work[COMPARED * n_arms + arm] > 0.0:
                product = work[DENSITY * n_arms + arm]
                product_below = product
                for other in range(n_arms):
                    if other != arm and work[COMPARED * n_arms + other] > 0.0:
                        product *= max(0.0, work[AHEAD * n_arms + other] - work[BELOW * n_arms + other])
                        product_below *= work[AHEAD * n_arms + other]
                within += product
                work[RESULT * n_arms + arm] += product_below
    total = 1.0 / step
    for arm in range(n_arms):
        if work[COMPARED * n_arms + arm] > 0.0:
            total *= step * work[SUM * n_arms + arm]
    for arm in range(n_arms):
        work[RESULT * n_arms + arm] = min(1.0, work[RESULT * n_arms + arm] / total)
    return min(1.0, within / total)


@no_inline
def go_ahead(n_arms: int, z: float, width: float, work: Any) -> None:
    """Add what lies between the last place and z, which is so much further, to the distribution functions ahead."""
    odds = math.exp(z)
    log_odds_1, x = math.log1p(odds), odds / (1.0 + odds)
    for arm in range(n_arms):
        if work[COMPARED * n_arms + arm] > 0.0:
            alpha, beta = work[ALPHA * n_arms + arm], work[BETA * n_arms + arm]
            height = alpha * z - (alpha + beta) * log_odds_1 - work[TOP * n_arms + arm]
            density = math.exp(height) if height > -_CUT else 0.0
            slope = alpha - (alpha + beta) * x
            first, second = density * slope, density * (slope * slope - (alpha + beta) * x * (1.0 - x))
            if width > 0.0:
                work[AHEAD * n_arms + arm] += width * (
                    0.5 * (work[LAST_0 * n_arms + arm] + density)
                    + width * 0.1 * (work[LAST_1 * n_arms + arm] - first)
                    + width * width * (work[LAST_2 * n_arms + arm] + second) / 120.0
                )
            work[LAST_0 * n_arms + arm], work[LAST_1 * n_arms + arm] = density, first
            work[LAST_2 * n_arms + arm] = second
