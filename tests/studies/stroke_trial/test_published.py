from __future__ import annotations

import math

import pytest

from adhere.simulation import Estimate
from adhere.studies.stroke_trial.study import HEADLINE_FIGURES, Published


def test_figures_are_the_papers() -> None:
    assert [str(one) for one in HEADLINE_FIGURES.values()] == ["7.9 [7.2, 8.7]", "8.9 [8.1, 9.7]", "9.2 [8.3, 10.0]"]


@pytest.mark.parametrize(
    ("se", "farthest"), [(0.0, 0.75), (0.4, math.hypot(0.75, 0.784)), (1.0, math.hypot(0.75, 1.96))]
)
def test_two_figures_agree_up_to_the_error_of_their_difference(se: float, farthest: float) -> None:
    published = Published(7.9, 7.15, 8.65)  # half a width of 0.75, so a standard error of 0.75 / 1.96
    for side in (-1, 1):
        near, far = (Estimate(7.9 + side * times * farthest, se, 0.0, 0.0) for times in (0.999, 1.001))
        assert published.agrees_with(near)
        assert not published.agrees_with(far)


def test_inside_or_outside_the_printed_interval() -> None:
    published = Published(7.9, 7.2, 8.7)
    assert published.holds(Estimate(7.2, 0.1, 7.0, 7.4))
    assert not published.holds(Estimate(7.1, 0.1, 6.9, 7.3))
    assert not published.holds(Estimate(8.71, None, None, None))
