from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from adhere.compilation.layout import Floats
from adhere.policies.numerics.beta import draw_largest, probabilities_of_being_largest, work_size
from adhere.randomness import CHOOSE, point, stream

from .reference import chances_of_largest

HUGE = 1e5


def chances(alphas: Any, betas: Any, prior: float = 0.0) -> Floats:
    out = np.full(len(alphas) + work_size(len(alphas)), np.nan)
    probabilities_of_being_largest(np.array(alphas, float), np.array(betas, float), prior, out)
    return out[: len(alphas)]


@pytest.mark.parametrize(
    ("alphas", "betas"),
    [
        ([1, 1], [1, 1]),
        ([2, 1], [1, 2]),
        ([1.7, 3.2], [4.4, 2.9]),
        ([1, 1, 1], [1, 2, 3]),
        ([3, 5, 1], [2, 9, 1]),
        ([1, 30, 12, 5], [1, 40, 10, 5]),
        ([1.01, 2, 7.5, 1, 20], [1.02, 1, 9.25, 60, 15]),
        ([HUGE, HUGE + 300], [HUGE, HUGE]),
        ([HUGE, 1], [HUGE, 1]),
        ([HUGE, HUGE + 100, 1, 50], [HUGE, HUGE, 1, 60]),
        ([1, HUGE], [HUGE, 1]),
        ([1, 1, HUGE], [HUGE, 1, 2 * HUGE]),
        ([HUGE, 1, 3, HUGE, 2], [1, HUGE, 3, 1.5, HUGE]),
        ([500, 400, 1], [500, 600, 20_000]),
        ([9 * HUGE, 9 * HUGE - 1, 9 * HUGE, 1, 1], [HUGE, HUGE, HUGE + 2, 1, HUGE]),
    ],
)
def test_chances_agree_with_scipys_quadrature(alphas: list[float], betas: list[float]) -> None:
    found = chances(alphas, betas)
    assert found == pytest.approx(chances_of_largest(alphas, betas), abs=1e-9)
    assert found.sum() == pytest.approx(1.0, abs=1e-14)
    shifted = chances(np.array(alphas) - 1.0, np.array(betas) - 1.0, prior=1.0)
    assert shifted == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("n_arms", [2, 3, 4, 5])
@pytest.mark.parametrize("count", [1.0, 2.5, 1e3, 1e6])
def test_equal_arms_have_equal_chances(n_arms: int, count: float) -> None:
    assert chances([count] * n_arms, [2 * count] * n_arms) == pytest.approx([1 / n_arms] * n_arms, abs=1e-12)


def test_the_order_of_arms_does_not_matter() -> None:
    alphas, betas = np.array([4.0, 17.0, 2.5, 1.0]), np.array([3.0, 20.0, 2.0, 1.0])
    order = np.array([2, 0, 3, 1])
    assert chances(alphas[order], betas[order]) == pytest.approx(chances(alphas, betas)[order], abs=1e-14)


@numba.njit  # type: ignore[untyped-decorator]
def winners(a: Any, b: Any, prior: float, rng: Any, out: Any) -> None:
    for _ in range(100_000):
        out[draw_largest(a, b, prior, rng)] += 1


@pytest.mark.parametrize(
    ("alphas", "betas"),
    [
        ([1, 1], [1, 6]),
        ([1, 1, 1], [1, 2, 3]),
        ([1.7, 3.2], [4.4, 2.9]),
        ([50, 3, 2], [20, 1, 1]),
        ([3e4, 3.01e4, 1.2], [7e4, 7e4, 2.5]),
        ([1.01, 2, 7.5, 1, 20], [1.02, 1, 9.25, 60, 15]),
    ],
)
@pytest.mark.parametrize("prior", [0.0, 2.5])
def test_the_largest_is_drawn_with_its_chance(alphas: list[float], betas: list[float], prior: float) -> None:
    a, b = np.array(alphas, float), np.array(betas, float)
    rng, counts = stream(17, 0), np.zeros(len(alphas), np.int64)
    point(rng, 0, CHOOSE)
    winners(a, b, prior, rng, counts)
    expected = np.array(chances_of_largest((a + prior).tolist(), (b + prior).tolist())) * counts.sum()
    kept = expected > 5
    assert counts[~kept].sum() < 30
    statistic = ((counts - expected)[kept] ** 2 / expected[kept]).sum()
    assert stats.chi2(kept.sum() - 1).sf(statistic) > 1e-4
