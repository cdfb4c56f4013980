from __future__ import annotations

import pytest
from scipy.stats import binomtest

from adhere.errors import InputError
from adhere.report.numbers import share, share_difference


@pytest.mark.parametrize(("count", "total"), [(0, 10), (10, 10), (1, 3), (81, 263), (8841, 9712), (1, 1)])
def test_shares_have_wilsons_interval(count: int, total: int) -> None:
    theirs = binomtest(count, total).proportion_ci(method="wilson")
    assert share(count, total) == pytest.approx((count / total, theirs.low, theirs.high), abs=1e-12)


# Newcombe (1998), Statistics in Medicine 17:873-890, table II, method 10.
@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_differences_have_newcombes_interval(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    found = share_difference(share(*one), share(*other))
    assert found == pytest.approx((one[0] / one[1] - other[0] / other[1], low, high), abs=5.1e-5)


@pytest.mark.parametrize(("count", "total"), [(0, 0), (-1, 3), (4, 3)])
def test_a_share_of_nothing(count: int, total: int) -> None:
    with pytest.raises(InputError, match="a total of at least 1"):
        share(count, total)
