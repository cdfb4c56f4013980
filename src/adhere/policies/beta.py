"""Beta distributions with parameters of at least 1: draws, and the chance that one of several is largest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adhere.compilation import subroutine
from adhere.randomness import uniform

_LOG_4 = math.log(4.0)


@subroutine
def draw_beta(a: float, b: float, rng: Any) -> float:
    """A Beta(a, b) variate for a, b ≥ 1: by inversion if one of them is 1, else by rejection.

    Reference: Cheng (1978), "Generating beta variates with nonintegral shape parameters", algorithm BB.
    """
    if a == 1.0:
        return 1.0 - math.pow(1.0 - uniform(rng), 1.0 / b)
    if b == 1.0:
        return math.pow(1.0 - uniform(rng), 1.0 / a)
    small, large = (a, b) if a < b else (b, a)
    total = small + large
    slope = math.sqrt((total - 2.0) / (2.0 * small * large - total))
    shift = small + 1.0 / slope
    while True:
        u1 = 1.0 - uniform(rng)  # in (0, 1]: its logarithm is needed
        u2 = 1.0 - uniform(rng)
        v = slope * math.log(u1 / (1.0 - u1))
        w = small * math.exp(v if v < 700.0 else 700.0)
        z = u1 * u1 * u2
        r = shift * v - _LOG_4
        s = small + r - w
        if s + 1.0 + math.log(5.0) >= 5.0 * z:
            break
        t = math.log(z)
        if s >= t or r + total * math.log(total / (large + w)) >= t:
            break
    return w / (large + w) if a == small else large / (large + w)


# Quadrature of the chance that an arm's θ is the largest, in the variable logit θ, where Beta densities are
# smooth and bell-shaped. Panels end at these distances from each arm's mode, in its own standard deviations.
_DISTANCES = np.array([0.0, 0.7, 1.4, 2.1, 2.8, 3.6, 4.6, 6.0, 8.0, 11.0, 15.0, 20.0, 27.0])
_NODES_PER_PANEL = 8
_nodes, _weights = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
_NODES, _WEIGHTS = (_nodes + 1.0) / 2.0, _weights / 2.0
# _PARTIAL[q, r]: weight of node r in the integral from the panel's start to node q
_powers = np.arange(_NODES_PER_PANEL)
_PARTIAL = (_NODES[:, None] ** (_powers + 1) / (_powers + 1)) @ np.linalg.inv(_NODES[:, None] ** _powers)


def work_size(n_arms: int) -> int:
    """How many places `chances_of_being_largest` works in, beyond its n results."""
    return n_arms * (1 + 2 * _NODES_PER_PANEL)


@subroutine
def next_panel_end(a: Any, b: Any, prior: float, start: float) -> float:
    """The nearest panel end of any arm that lies beyond `start`."""
    nearest = math.inf
    for arm in range(a.size):
        alpha, beta = a[arm] + prior, b[arm] + prior
        mode, deviation = math.log(alpha / beta), math.sqrt(1.0 / alpha + 1.0 / beta)
        for distance in _DISTANCES:
            for end in (mode - distance * deviation, mode + distance * deviation):
                if start < end < nearest:
                    nearest = end
    return nearest


@subroutine
def log_density(a: float, b: float, z: float) -> float:
    """Log density of logit θ, up to a constant, relative to its mode."""
    mode = math.log(a / b)
    there = a * z - (a + b) * (z + math.log1p(math.exp(-z)) if z > 0.0 else math.log1p(math.exp(z)))
    at_mode = a * mode - (a + b) * (math.log1p(a / b))
    return there - at_mode


@subroutine
def chances_of_being_largest(a: Any, b: Any, prior: float, out: Any) -> None:
    """P(θ_j is the largest) for independent θ_j ~ Beta(a_j + prior, b_j + prior), all ≥ 1, into `out`.

    Each P_j = ∫ f_j Π_{i≠j} F_i by Gauss-Legendre panels, the F_i integrated along the way. Compiled loops may
    not allocate, so `out` has `work_size(n_arms)` more places to work in.
    """
    n_arms, n_nodes = a.size, _NODES_PER_PANEL
    density = out[n_arms : n_arms * (1 + n_nodes)]
    below = out[n_arms * (1 + n_nodes) : n_arms * (1 + 2 * n_nodes)]
    reached = out[n_arms * (1 + 2 * n_nodes) : n_arms * (2 + 2 * n_nodes)]
    for arm in range(n_arms):
        out[arm], reached[arm] = 0.0, 0.0
    start = next_panel_end(a, b, prior, -math.inf)
    end = next_panel_end(a, b, prior, start)
    while end < math.inf:
        width = end - start
        for arm in range(n_arms):
            row = arm * n_nodes
            for node in range(n_nodes):
                z = start + width * _NODES[node]
                density[row + node] = math.exp(log_density(a[arm] + prior, b[arm] + prior, z))
            for node in range(n_nodes):
                below[row + node] = reached[arm]
                for other in range(n_nodes):
                    below[row + node] += width * _PARTIAL[node, other] * density[row + other]
            for node in range(n_nodes):
                reached[arm] += width * _WEIGHTS[node] * density[row + node]
        for arm in range(n_arms):
            for node in range(n_nodes):
                product = width * _WEIGHTS[node] * density[arm * n_nodes + node]
                for other in range(n_arms):
                    if other != arm:
                        reach = below[other * n_nodes + node]
                        product *= reach if reach > 0.0 else 0.0
                out[arm] += product
        start, end = end, next_panel_end(a, b, prior, end)
    total = 0.0
    for arm in range(n_arms):
        for other in range(n_arms):
            out[arm] /= reached[other]
        total += out[arm]
    for arm in range(n_arms):
        out[arm] /= total
