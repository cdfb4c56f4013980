import math

import pytest

from adhere.analysis.estimates import ConfidenceSet, Quantity, Shape
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.two_arms import inverse, number_needed
from adhere.analysis.formatting import needed

from .made_records import Row, made


def test_altmans_example_passes_through_infinity() -> None:
    """Altman (1998), British Medical Journal 317: 10% (-5% to 25%) is 10 (benefit 4 to ∞ to harm 20)."""
    found = number_needed(Quantity(0.10, (ConfidenceSet(-0.05, 0.25, "method"),), 100))
    assert found.value == pytest.approx(10.0)
    assert (found.sets[0].low, found.sets[0].high, found.sets[0].shape) == (-20.0, 4.0, Shape.OUTSIDE)


def test_no_difference_needs_a_sentence_not_a_number() -> None:
    found = number_needed(Quantity(0.0, (ConfidenceSet(-0.1, 0.1, "method"),), 100))
    assert found.value is None
    assert found.reason == "the estimated difference is 0: no number of patients is enough"


@pytest.mark.parametrize("shape", [Shape.INTERVAL, Shape.OUTSIDE])
@pytest.mark.parametrize("ends", [(-2, -1), (-2, 0), (-2, 4), (0, 4), (1, 4), (-math.inf, 2), (-3, math.inf)])
def test_inverses_of_what_is_inside_are_inside_and_no_others(ends: tuple[float, float], shape: Shape) -> None:
    if shape is Shape.OUTSIDE and any(map(math.isinf, ends)):
        return
    given = ConfidenceSet(ends[0], ends[1], "method", shape=shape)
    found = inverse(given)
    for value in (-7.1, -3.5, -1.7, -1.1, -0.7, -0.3, -0.1, 0.1, 0.15, 0.3, 0.7, 1.1, 2.3, 3.9, 5.0):
        assert (1.0 / value in found) == (value in given), (given, found, value)


def test_everything_nothing_and_zero_alone() -> None:
    everything = ConfidenceSet(-math.inf, math.inf, "method", shape=Shape.EVERYTHING)
    assert inverse(everything) == everything
    assert inverse(ConfidenceSet(-math.inf, math.inf, "method")).shape is Shape.EVERYTHING
    assert inverse(ConfidenceSet(0.0, 0.0, "method")).shape is Shape.EMPTY


def test_none_where_the_difference_is_none_of_two_proportions() -> None:
    far = number_needed(Quantity(1.4, (ConfidenceSet(0.2, 3.0, "method"),), 100))
    assert far.value is None
    assert (far.sets[0].low, far.sets[0].high) == pytest.approx((1 / 3, 5.0))
    assert "beyond" in far.reason
    assert needed(far) == "–"
    for found in (
        ConfidenceSet(-0.6, 0.01, "Fieller", shape=Shape.OUTSIDE),
        ConfidenceSet(-2.0, 3.0, "Fieller"),
    ):
        nothing = number_needed(Quantity(0.5, (found,), 100))
        assert nothing.value is None
        assert nothing.sets[0].shape is Shape.EVERYTHING
        assert nothing.reason
        assert needed(nothing) == "–"


def test_none_of_outcomes_that_are_not_0_or_1() -> None:
    rows: list[Row] = [(c, c, y + 0.2 * c, 30) for c in (0, 1) for y in (0.1, 0.5)]
    for one in effects(made(rows)).comparisons:
        assert (one.number_needed.value, one.number_needed.sets) == (None, ())
        assert "not all 0 or 1" in one.number_needed.reason
        assert one.difference.value == pytest.approx(0.2)
