import math

import numpy as np
import pytest

from adhere.analysis.estimates import Shape
from adhere.analysis.fixed_sample.intervals import fieller
from adhere.intervals import normal_quantile

Z2 = normal_quantile(0.95) ** 2


def test_every_shape_is_just_where_the_test_does_not_refute() -> None:
    rng, shapes = np.random.default_rng(3), set()
    grid = np.linspace(-30.0, 30.0, 6001)
    for _ in range(60):
        n, d = rng.normal(0.0, 1.5, 2).tolist()
        root = rng.normal(size=(2, 2))
        (v_n, c), (_, v_d) = (root @ root.T * rng.choice([0.1, 1.0])).tolist()
        found = fieller(n, d, v_n, v_d, c)
        shapes.add(found.shape)
        assert n / d in found
        refuted = (n - grid * d) ** 2 > Z2 * (v_n - 2 * grid * c + grid**2 * v_d)
        ends = [end for end in (found.low, found.high) if math.isfinite(end)]
        clear = np.all([np.abs(grid - end) > 1e-9 for end in ends], axis=0) if ends else np.full(len(grid), True)
        assert [theta in found for theta in grid[clear].tolist()] == (~refuted)[clear].tolist()
    assert shapes == {Shape.INTERVAL, Shape.OUTSIDE, Shape.EVERYTHING}


@pytest.mark.parametrize(
    ("moments", "shape", "ends"),
    [
        ((0.5, 0.0, 1.0, 0.0, 0.0), Shape.EVERYTHING, (-math.inf, math.inf)),
        ((5.0, 0.0, 1.0, 0.0, 0.0), Shape.EMPTY, (math.inf, -math.inf)),  # no denominator, yet a numerator
        ((0.0, 1.0, 0.0, 0.0, 0.0), Shape.INTERVAL, (0.0, 0.0)),
        ((1.0, math.sqrt(Z2), 0.01, 1.0, 0.0), Shape.INTERVAL, ((1 - 0.01 * Z2) / (2 * math.sqrt(Z2)), math.inf)),
        ((-1.0, math.sqrt(Z2), 0.01, 1.0, 0.0), Shape.INTERVAL, (-math.inf, (0.01 * Z2 - 1) / (2 * math.sqrt(Z2)))),
    ],
)
def test_denominators_at_the_edge(
    moments: tuple[float, float, float, float, float], shape: Shape, ends: tuple[float, float]
) -> None:
    found = fieller(*moments)
    assert found.shape is shape
    assert (found.low, found.high) == pytest.approx(ends)
