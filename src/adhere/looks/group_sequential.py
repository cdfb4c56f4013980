"""Critical values of group-sequential tests, by recursive numerical integration."""

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np

Boundary: TypeAlias = Literal["obrien-fleming", "pocock"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_TOLERANCE: Final = 1e-10
# Shape of the critical values as a function of the information fraction.
_SHAPES: Final[dict[Boundary, Callable[[float], float]]] = {
    "obrien-fleming": lambda fraction: 1.0 / math.sqrt(fraction),
    "pocock": lambda fraction: 1.0,
}


@cache
def critical_values(boundary: Boundary, alpha: float, fractions: tuple[float, ...]) -> tuple[float, ...]:
    """Compute the critical values of a two-sided test of level alpha, one for each look.

    At information fraction t, O'Brien and Fleming's critical value is c / √t and Pocock's is c. The constant c is
    found by bisection, so that a z-statistic without drift exceeds them at any look with probability alpha.

    Parameters
    ----------
    boundary
        "obrien-fleming" or "pocock".
    alpha
        Level of the test, between 0 and 1.
    fractions
        Information fraction at each look, increasing up to 1.

    References
    ----------
    Armitage, McPherson & Rowe (1969), "Repeated significance tests on accumulating data".
    Pocock (1977), "Group sequential methods in the design and analysis of clinical trials".
    O'Brien & Fleming (1979), "A multiple testing procedure for clinical trials".
    Jennison & Turnbull (2000), "Group Sequential Methods with Applications to Clinical Trials", chapters 2 and 19.

    Examples
    --------
    >>> [round(c, 3) for c in critical_values("obrien-fleming", 0.05, (1 / 3, 2 / 3, 1.0))]
    [3.471, 2.454, 2.004]
    >>> round(critical_values("pocock", 0.05, (0.2, 0.4, 0.6, 0.8, 1.0))[0], 3)
    2.413

    """
    shape = [_SHAPES[boundary](fraction) for fraction in fractions]
    # Bounds: a single look at level alpha, and Bonferroni over all looks.
    low = NormalDist().inv_cdf(1.0 - alpha / 2.0)
    high = NormalDist().inv_cdf(1.0 - alpha / (2.0 * len(fractions)))
    while high - low > _TOLERANCE:
        middle = (low + high) / 2.0
        if 1.0 - probability_inside(fractions, [middle * one for one in shape]) > alpha:
            low = middle
        else:
            high = middle
    return tuple(high * one for one in shape)


def probability_inside(fractions: tuple[float, ...], critical: list[float]) -> float:
    """Return the probability that |B(t)| / √t of a Brownian motion B is below its critical value at all looks.

    The density of B(t) on paths that stayed inside is propagated from look to look. Its nodes are those of
    Gauss–Legendre panels no wider than two standard deviations of the next increment.
    """
    before, weighted, last = np.zeros(1), np.ones(1), 0.0
    for look, (fraction, value) in enumerate(zip(fractions, critical, strict=True)):
        end, deviation = value * math.sqrt(fraction), math.sqrt(fraction - last)
        next_deviation = math.sqrt(fractions[look + 1] - fraction) if look + 1 < len(fractions) else deviation
        n_panels = max(2, math.ceil(end / min(deviation, next_deviation)))
        edges = np.linspace(-end, end, n_panels + 1)
        width = edges[1] - edges[0]
        nodes = (edges[:-1, None] + width * (_NODES + 1.0) / 2.0).ravel()
        distance = (nodes[:, None] - before) / deviation
        density = np.exp(-0.5 * distance**2) @ weighted / (deviation * math.sqrt(2.0 * math.pi))
        before, weighted, last = nodes, density * np.tile(_WEIGHTS, n_panels) * width / 2.0, fraction
    return float(weighted.sum())
