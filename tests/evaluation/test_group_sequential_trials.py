"""Simulated trials of fixed designs against what is known of them; benchmarks/group_sequential.py has more trials."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from adhere.design.design import Design
from adhere.design.parts import Boundary, Looks, Stopping

from .trials import compliers, play

N_TRIALS = 3_000
NORMAL = NormalDist()
# Jennison & Turnbull (2000), Tables 2.2 and 2.4: by how much the largest sample exceeds that of a single look.
INFLATION: dict[tuple[Boundary, int], float] = {
    ("obrien-fleming", 3): 1.016,
    ("obrien-fleming", 5): 1.026,
    ("pocock", 3): 1.151,
    ("pocock", 5): 1.207,
}


def share_of_claims(stopping: Stopping, n_looks: int, per_arm: int, means: tuple[float, float]) -> float:
    """How often trials in permuted blocks find a difference."""
    n = 2 * per_arm
    looks = Looks(at=tuple(n * look // n_looks for look in range(1, n_looks)))
    policy = f"burn-in(uniform, patients={n})"
    design = Design("fixed", policy, ("arm-0", "arm-1"), n, looks=looks, stopping=stopping)
    return float(np.mean(play(design, compliers(*means), N_TRIALS).decision != 0))


def within_error(expected: float) -> object:
    """Within the bar of 0.003 and four standard errors."""
    return pytest.approx(expected, abs=0.003 + 4 * math.sqrt(expected * (1 - expected) / N_TRIALS))


@pytest.mark.parametrize(("boundary", "n_looks"), INFLATION)
def test_boundaries_hold_their_level_and_have_the_power_of_the_tables(boundary: Boundary, n_looks: int) -> None:
    stopping, per_arm = Stopping(by="z-test", boundary=boundary, alpha=0.05), 600
    assert share_of_claims(stopping, n_looks, per_arm, (0.2, 0.2)) == within_error(0.05)
    drift = (NORMAL.inv_cdf(0.975) + NORMAL.inv_cdf(0.9)) * math.sqrt(INFLATION[boundary, n_looks])
    half = drift * math.sqrt(2 * 0.2 * 0.8 / per_arm) / 2
    assert share_of_claims(stopping, n_looks, per_arm, (0.2 - half, 0.2 + half)) == within_error(0.9)


@pytest.mark.parametrize("means", [(0.3, 0.3), (0.3, 0.42), (0.1, 0.02)])
def test_a_single_look_has_its_exact_binomial_power(means: tuple[float, float]) -> None:
    per_arm, critical = 200, 1.96
    successes = np.arange(per_arm + 1)
    first, second = np.meshgrid(successes, successes, indexing="ij")
    pooled = (first + second) / (2 * per_arm)
    spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * 2 / per_arm)
    is_claimed = np.abs(second - first) / per_arm >= critical * spread
    weights = np.outer(*(stats.binom.pmf(successes, per_arm, mean) for mean in means))
    exact = float(weights[is_claimed].sum())
    found = share_of_claims(Stopping(by="z-test", superiority=critical), 1, per_arm, means)
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / N_TRIALS))
