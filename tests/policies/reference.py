"""What the policies' numbers are held against: SciPy's quadrature, and trials told exactly what to learn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from scipy import integrate, special

from adhere import Trial

ARMS = ("a", "b", "c", "d", "e")


def probability_of_largest(alphas: Sequence[float], betas: Sequence[float], arm: int) -> float:
    """P(θ_arm is the largest) for independent θ_j ~ Beta(α_j, β_j), integrated over logit θ between many points."""
    modes = [math.log(a / b) for a, b in zip(alphas, betas, strict=True)]
    spreads = [math.sqrt(1 / a + 1 / b) for a, b in zip(alphas, betas, strict=True)]
    steps = (-40, -25, -15, -9, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 9, 15, 25, 40)
    points = sorted({mode + step * spread for mode, spread in zip(modes, spreads, strict=True) for step in steps})
    log_norm = special.betaln(alphas[arm], betas[arm])

    def integrand(z: float) -> float:
        log_density = alphas[arm] * z - (alphas[arm] + betas[arm]) * np.logaddexp(0.0, z) - log_norm
        theta = special.expit(z)
        others = (special.betainc(alphas[i], betas[i], theta) for i in range(len(alphas)) if i != arm)
        return float(np.exp(log_density) * math.prod(others))

    pieces = (
        integrate.quad(integrand, left, right, epsabs=1e-14, epsrel=1e-11, limit=200)[0]
        for left, right in pairwise(points)
    )
    return math.fsum(pieces)


def chances_of_largest(alphas: Sequence[float], betas: Sequence[float]) -> list[float]:
    """The chance of each."""
    return [probability_of_largest(alphas, betas, arm) for arm in range(len(alphas))]


def taught(policy: str, n_arms: int, lessons: Iterable[tuple[int, float]], seed: int = 0) -> Trial:
    """A trial of a policy under Actual that was credited with these (arm, reward)."""
    trial = Trial(policy, ARMS[:n_arms], seed)
    for arm, reward in lessons:
        trial.report(trial.recommend().id, actual=ARMS[arm], reward=reward)
    return trial


def next_chances(trial: Trial) -> list[float]:
    """The chance of each arm for the next patient."""
    return list(trial.recommend().probabilities.values())
