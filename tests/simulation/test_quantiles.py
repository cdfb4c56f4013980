from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adhere.errors import InputError
from adhere.simulation.measures.quantiles import QuantileSketch

SIZES = st.floats(1e-6, 1e9)
VALUES = st.one_of(SIZES, SIZES.map(lambda size: -size), st.just(0.0))
SHARES = st.floats(0.0, 1.0)


@given(st.lists(VALUES, min_size=1, max_size=60), SHARES)
def test_a_quantile_is_within_half_a_percent_of_numpys(values: list[float], q: float) -> None:
    exact = float(np.quantile(values, q, method="lower"))
    assert QuantileSketch.of(values).quantile(q) == pytest.approx(exact, rel=0.005 + 1e-9, abs=1.01e-6)


@pytest.mark.parametrize("q", [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0])
def test_quantiles_of_many_surpluses(q: float) -> None:
    """With many runs it does not matter how NumPy interpolates between two of them."""
    values = np.random.default_rng(1).normal(8.0, 30.0, 200_001)
    assert QuantileSketch.of(values).quantile(q) == pytest.approx(np.quantile(values, q), rel=0.0051)


@given(st.lists(st.lists(VALUES, min_size=1, max_size=20), min_size=2, max_size=4), st.randoms())
def test_sketches_of_parts_add_up_exactly_in_any_order(parts: list[list[float]], random: object) -> None:
    whole = QuantileSketch.of([value for part in parts for value in part])
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    merged = QuantileSketch.of(shuffled[0])
    for part in shuffled[1:]:
        merged = merged.merge(QuantileSketch.of(part))
    np.testing.assert_array_equal(merged.counts, whole.counts)


@given(st.lists(VALUES, min_size=1, max_size=60))
def test_a_sketch_travels_whole_and_light(values: list[float]) -> None:
    sketch = QuantileSketch.of(values)
    travelled = pickle.dumps(sketch)
    assert pickle.loads(travelled) == sketch
    assert pickle.loads(travelled).counts.dtype == sketch.counts.dtype
    assert len(travelled) < 1500 < sketch.counts.nbytes


def test_what_is_nearly_nothing_counts_as_zero() -> None:
    assert QuantileSketch.of([-1e-9, 1e-7, 0.0]).quantile(0.5) == 0.0


def test_no_quantile_lies_beyond_what_was_seen() -> None:
    sketch = QuantileSketch.of([44.0, 44.0]).merge(QuantileSketch.of([44.0]))
    assert [sketch.quantile(q) for q in (0.0, 0.5, 1.0)] == [44.0, 44.0, 44.0]


def test_a_sketch_does_not_grow() -> None:
    few, many = (QuantileSketch.of(np.random.default_rng(0).normal(size=n)) for n in (10, 100_000))
    assert few.counts.nbytes == many.counts.nbytes < 100_000


@pytest.mark.parametrize("q", [-0.01, 1.01, float("nan")])
def test_a_share_outside_0_to_1(q: float) -> None:
    with pytest.raises(InputError, match=r"^q: "):
        QuantileSketch.of([1.0]).quantile(q)
