from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from adhere.simulation.measures.moments import Moments

ROWS = st.integers(1, 40).flatmap(
    lambda n: arrays.arrays(np.float64, (n, 3), elements=st.floats(-1e6, 1e6, allow_subnormal=False))
)


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_merged_blocks_are_the_moments_of_the_whole(blocks: list[np.ndarray]) -> None:
    merged = Moments.of(blocks[0])
    for block in blocks[1:]:
        merged = merged.merge(Moments.of(block))
    whole = np.vstack(blocks)
    scale = max(1.0, float(np.abs(whole).max()))
    assert merged.n == len(whole)
    np.testing.assert_allclose(merged.mean, whole.mean(axis=0), rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(merged.deviations, whole.var(axis=0) * len(whole), rtol=1e-9, atol=1e-9 * scale**2)
    if len(whole) > 1:
        expected = whole.std(axis=0, ddof=1) / math.sqrt(len(whole))
        np.testing.assert_allclose(merged.standard_error(), expected, rtol=1e-6, atol=1e-7 * scale)


def test_a_large_offset_costs_no_digits() -> None:
    rng = np.random.default_rng(0)
    blocks = [1e9 + rng.normal(size=(1000, 1)) for _ in range(50)]
    merged = Moments.of(blocks[0])
    for block in blocks[1:]:
        merged = merged.merge(Moments.of(block))
    assert merged.deviations[0] / 50_000 == pytest.approx(np.vstack(blocks).var(), rel=1e-6)


def test_one_run_says_a_mean_and_nothing_else() -> None:
    one = Moments.of(np.array([[3.0, 4.0]])).estimate(1)
    assert (one.mean, one.se, one.low, one.high) == (4.0, None, None, None)
    assert str(one) == "4"


def test_interval_is_the_mean_and_1_96_standard_errors() -> None:
    two = Moments.of(np.array([[1.0], [2.0], [6.0]])).estimate(0)
    assert two.mean == 3.0
    assert two.se == pytest.approx(math.sqrt(7 / 3))
    assert two.low is not None
    assert two.high is not None
    assert (two.high - two.low) / 2 == pytest.approx(1.959963984540054 * math.sqrt(7 / 3))


@pytest.mark.parametrize("n_rows", [5, 12, 14, 3])
def test_blocks_measured_together_are_those_measured_one_by_one(n_rows: int) -> None:
    rows = np.random.default_rng(3).standard_normal((n_rows, 7))
    together = Moments.of_blocks(rows, 4)
    assert together == [Moments.of(rows[first : first + 4]) for first in range(0, n_rows, 4)]
