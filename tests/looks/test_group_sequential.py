"""Boundaries against Jennison & Turnbull (2000), "Group Sequential Methods with Applications to Clinical Trials"."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from adhere.design.parts import Boundary
from adhere.looks.group_sequential import critical_values

# By the number of equally spaced looks: Table 2.1, C_P(K, α), and Table 2.3, C_B(K, α).
CONSTANTS: dict[tuple[Boundary, float], dict[int, float]] = {
    ("pocock", 0.01): {1: 2.576, 2: 2.772, 3: 2.873, 4: 2.939, 5: 2.986, 10: 3.117, 20: 3.225},
    ("pocock", 0.05): {1: 1.960, 2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413, 10: 2.555, 20: 2.672},
    ("pocock", 0.10): {1: 1.645, 2: 1.875, 3: 1.992, 4: 2.067, 5: 2.122, 10: 2.270, 20: 2.392},
    ("obrien-fleming", 0.01): {1: 2.576, 2: 2.580, 3: 2.595, 4: 2.609, 5: 2.621, 10: 2.660, 20: 2.695},
    ("obrien-fleming", 0.05): {1: 1.960, 2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040, 10: 2.087, 20: 2.126},
    ("obrien-fleming", 0.10): {1: 1.645, 2: 1.678, 3: 1.710, 4: 1.733, 5: 1.751, 10: 1.801, 20: 1.842},
}
# Table 2.2, R_P(K, 0.05, β), and Table 2.4, R_B: by how much the largest sample exceeds that of a single look.
INFLATION: dict[tuple[Boundary, float], dict[int, float]] = {
    ("pocock", 0.8): {2: 1.110, 3: 1.166, 5: 1.229},
    ("pocock", 0.9): {2: 1.100, 3: 1.151, 5: 1.207},
    ("obrien-fleming", 0.8): {2: 1.008, 3: 1.017, 5: 1.028},
    ("obrien-fleming", 0.9): {2: 1.007, 3: 1.016, 5: 1.026},
}


def equally_spaced(n_looks: int) -> tuple[float, ...]:
    return tuple((look + 1) / n_looks for look in range(n_looks))


@pytest.mark.parametrize(("boundary", "alpha"), CONSTANTS)
def test_critical_values_are_those_of_the_tables(boundary: Boundary, alpha: float) -> None:
    for n_looks, constant in CONSTANTS[boundary, alpha].items():
        values = critical_values(boundary, alpha, equally_spaced(n_looks))
        assert values[-1] == pytest.approx(constant, abs=0.0006)
        first = constant * math.sqrt(n_looks) if boundary == "obrien-fleming" else constant
        assert values[0] == pytest.approx(first, abs=0.0006 * math.sqrt(n_looks))


def power(critical: tuple[float, ...], fractions: tuple[float, ...], drift: float) -> float:
    """P(some z-statistic is above its critical value, or below minus that), by SciPy's multivariate normal."""
    t = np.array(fractions)
    covariance = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    inside = stats.multivariate_normal.cdf(
        critical,
        mean=drift * np.sqrt(t),
        cov=covariance,
        lower_limit=[-value for value in critical],
        rng=np.random.default_rng(1),
    )
    return 1.0 - float(inside)


@pytest.mark.parametrize(("boundary", "wanted"), INFLATION)
def test_the_sample_sizes_of_the_tables_have_their_power(boundary: Boundary, wanted: float) -> None:
    for n_looks, inflation in INFLATION[boundary, wanted].items():
        fractions = equally_spaced(n_looks)
        drift = (stats.norm.ppf(0.975) + stats.norm.ppf(wanted)) * math.sqrt(inflation)
        critical = critical_values(boundary, 0.05, fractions)
        assert power(critical, fractions, drift) == pytest.approx(wanted, abs=0.0005)
        assert power(critical, fractions, 0.0) == pytest.approx(0.05, abs=0.0002)


@pytest.mark.parametrize("fractions", [(0.3, 0.35, 1.0), (0.001, 0.5, 1.0), (0.15, 0.2, 0.25, 0.3, 1.0)])
def test_unequal_looks_hold_the_level_too(fractions: tuple[float, ...]) -> None:
    assert power(critical_values("pocock", 0.05, fractions), fractions, 0.0) == pytest.approx(0.05, abs=0.0002)
    assert power(critical_values("obrien-fleming", 0.05, fractions), fractions, 0.0) == pytest.approx(0.05, abs=2e-4)
