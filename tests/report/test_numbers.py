from __future__ import annotations

from adhere.report.numbers import estimate_texts
from adhere.simulation import Estimate


def estimate(mean: float, se: float | None) -> Estimate:
    return Estimate(mean, se, *((None, None) if se is None else (mean - 1.96 * se, mean + 1.96 * se)))


def test_decimals_follow_the_interval() -> None:
    assert estimate_texts([estimate(0.4567, 0.01)]) == ["0.457 [0.437, 0.476]"]
    assert estimate_texts([estimate(4.567, 0.5)]) == ["4.57 [3.59, 5.55]"]
    assert estimate_texts([estimate(45.67, 5.0)]) == ["45.7 [35.9, 55.5]"]


def test_never_more_than_four_figures_or_so() -> None:
    assert estimate_texts([estimate(498.123, 0.001)]) == ["498.1 [498.1, 498.1]"]
    assert estimate_texts([estimate(12345.6, 0.001)]) == ["12,346 [12,346, 12,346]"]


def test_without_an_interval() -> None:
    assert estimate_texts([estimate(4.567, None)]) == ["4.57"]
    assert estimate_texts([estimate(4.567, 0.5)], intervals=False) == ["4.57"]


def test_zeros() -> None:
    assert estimate_texts([estimate(0.0, 0.0)]) == ["0.00 [0.00, 0.00]"]
    assert estimate_texts([estimate(-0.0001, 1.0)], sign="+") == ["+0.0 [-2.0, +2.0]"]
