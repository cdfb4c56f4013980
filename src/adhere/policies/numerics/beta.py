"""Draw the index of the largest of several Beta variates, and compute its probabilities. All parameters are ≥ 1."""

import math
from typing import Any

import numpy as np

from adhere.compilation import inline, no_inline, unlikely
from adhere.policies.numerics.gamma import draw_gamma
from adhere.randomness import Stream, uniform


@inline
def draw_success(reward: float, rng: Stream) -> bool:
    """Turn a reward in [0, 1] into a success or a failure."""
    if unlikely(reward * reward != reward):  # neither 0 nor 1
        return uniform(rng) < reward
    return reward > 0.0


@no_inline
def draw_largest(a: Any, b: Any, prior: float, rng: Stream) -> int:
    """Return the index of the largest of independent θ_j ~ Beta(a_j + prior, b_j + prior), with all parameters ≥ 1.

    θ = G / (G + H) for independent Gamma variates G and H, and θ_i > θ_j if G_i H_j > G_j H_i. No θ is ever computed.
    """
    best, largest_g, largest_h = 0, 0.0, 1.0
    for arm in range(a.size):
        g = draw_gamma(a[arm] + prior, rng)
        h = draw_gamma(b[arm] + prior, rng)
        if g * largest_h > largest_g * h:
            best, largest_g, largest_h = arm, g, h
    return best


# Quadrature of the probability that an arm's θ is the largest. The variable is logit θ, in which Beta densities are
# smooth and bell-shaped. Panels end at these distances from each arm's mode, in the arm's own standard deviations.
_DISTANCES = np.array([0.0, 0.7, 1.4, 2.1, 2.8, 3.6, 4.6, 6.0, 8.0, 11.0, 15.0, 20.0, 27.0])
_NODES_PER_PANEL = 8
_nodes, _weights = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
_NODES, _WEIGHTS = (_nodes + 1.0) / 2.0, _weights / 2.0
# _PARTIAL[q, r]: weight of node r in the integral from the panel's start to node q
_powers = np.arange(_NODES_PER_PANEL)
_PARTIAL = (_NODES[:, None] ** (_powers + 1) / (_powers + 1)) @ np.linalg.inv(_NODES[:, None] ** _powers)


def work_size(n_arms: int) -> int:
    """Return the length of the workspace of `probabilities_of_being_largest`, beyond its n results."""
    return n_arms * (2 + 2 * _NODES_PER_PANEL) + _NODES_PER_PANEL


@no_inline
def next_panel_end(a: Any, b: Any, prior: float, start: float) -> float:
    """Return the nearest end of a quadrature panel, of any arm, beyond `start`."""
    nearest = math.inf
    for arm in range(a.size):
        alpha, beta = a[arm] + prior, b[arm] + prior
        mode, deviation = math.log(alpha / beta), math.sqrt(1.0 / alpha + 1.0 / beta)
        for distance in _DISTANCES:
            for end in (mode - distance * deviation, mode + distance * deviation):
                if start < end < nearest:
                    nearest = end
    return nearest


@inline
def softplus(z: float) -> float:
    """Return log(1 + exp(z)). The log density of logit θ is a·z - (a + b)·softplus(z), up to a constant."""
    return z + math.log1p(math.exp(-z)) if z > 0.0 else math.log1p(math.exp(z))


@no_inline
def probabilities_of_being_largest(a: Any, b: Any, prior: float, out: Any) -> None:
    """Write P(θ_j is the largest) into `out`, for independent θ_j ~ Beta(a_j + prior, b_j + prior), with parameters ≥
    1.

    P_j = ∫ f_j Π_{i≠j} F_i is computed on Gauss-Legendre panels, and the F_i are integrated along the way. Compiled
    loops cannot allocate memory, so `out` has `work_size(n_arms)` further elements as workspace.
    """
    n_arms, n_nodes = a.size, _NODES_PER_PANEL
    density = out[n_arms : n_arms * (1 + n_nodes)]
    below = out[n_arms * (1 + n_nodes) : n_arms * (1 + 2 * n_nodes)]
    reached = out[n_arms * (1 + 2 * n_nodes) : n_arms * (2 + 2 * n_nodes)]
    at_mode = out[n_arms * (2 + 2 * n_nodes) : n_arms * (3 + 2 * n_nodes)]
    rising = out[n_arms * (3 + 2 * n_nodes) : n_arms * (3 + 2 * n_nodes) + n_nodes]
    for arm in range(n_arms):
        out[arm], reached[arm] = 0.0, 0.0
        alpha, beta = a[arm] + prior, b[arm] + prior
        at_mode[arm] = alpha * math.log(alpha / beta) - (alpha + beta) * math.log1p(alpha / beta)
    start = next_panel_end(a, b, prior, -math.inf)
    end = next_panel_end(a, b, prior, start)
    while end < math.inf:
        width = end - start
        for node in range(n_nodes):
            rising[node] = softplus(start + width * _NODES[node])
        for arm in range(n_arms):
            row, alpha, beta = arm * n_nodes, a[arm] + prior, b[arm] + prior
            for node in range(n_nodes):
                z = start + width * _NODES[node]
                density[row + node] = math.exp(alpha * z - (alpha + beta) * rising[node] - at_mode[arm])
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
