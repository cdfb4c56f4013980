from __future__ import annotations

import math

import numpy as np
import pytest

from adhere.looks.beta_quadrature import N_ROWS, RESULT, compare_posteriors, set_posterior
from oracle.looks import Arm, all_within, gains_more, is_best

Numbers = list[float]


def compared(n: Numbers, sums: Numbers, margin: float, is_reflected: bool = False) -> tuple[float, Numbers]:
    k = len(n)
    work = np.full(N_ROWS * k, np.nan)
    for arm in range(k):
        set_posterior(k, arm, n[arm], sums[arm], is_reflected, work)
    within = compare_posteriors(k, margin, work)
    return within, work[RESULT * k : (RESULT + 1) * k].tolist()


def arms_of(n: Numbers, sums: Numbers) -> list[Arm]:
    """Outcomes that add up to the sums."""
    return [Arm([total / size] * int(size) if size else []) for size, total in zip(n, sums, strict=True)]


CASES = [
    ([100, 100], [25, 31]),
    ([5, 400], [1, 130]),
    ([0, 0], [0, 0]),
    ([40, 30, 0], [40, 29, 0]),
    ([30, 20, 10], [0, 0, 0]),
    ([12, 9, 7], [3.3, 0.4, 6.9]),
    ([2000, 60, 900], [500, 18, 236]),
    ([80] * 10, [20, 21, 22, 23, 24, 25, 26, 27, 28, 40]),
]


@pytest.mark.parametrize(("n", "sums"), CASES)
def test_probabilities_of_being_best_are_those_of_quadrature(n: Numbers, sums: Numbers) -> None:
    arms = arms_of(n, sums)
    _, best = compared(n, sums, 0.0)
    assert best == pytest.approx([is_best(arm, arms) for arm in arms], abs=1e-6)


@pytest.mark.parametrize(("n", "sums"), CASES[:-1])
def test_probabilities_within_a_margin_are_those_of_quadrature(n: Numbers, sums: Numbers) -> None:
    arms, margin = arms_of(n, sums), 0.05
    is_reflected = math.fsum(sums) > math.fsum(n) / 2
    within, near = compared(n, sums, margin, is_reflected)
    tolerance = 1e-6 if min(n) > 0 else 1e-4  # without outcomes there is a kink at 1 - margin
    assert within == pytest.approx(all_within(arms, margin), abs=tolerance)
    if len(n) == 2:
        first, second = (1, 0) if is_reflected else (0, 1)
        assert 1 - near[0] == pytest.approx(gains_more(arms[second], arms[first], margin), abs=tolerance)


def test_two_arms_with_the_same_outcomes_are_each_best_with_probability_one_half() -> None:
    assert compared([70, 70], [12, 12], 0.0)[1] == pytest.approx([0.5, 0.5], abs=1e-12)


def test_reflecting_turns_the_largest_into_the_smallest() -> None:
    n, sums = [50.0, 60.0], [44.0, 50.0]
    assert compared(n, sums, 0.1)[0] == pytest.approx(compared(n, sums, 0.1, is_reflected=True)[0], abs=1e-6)
    assert compared(n, sums, 0.0)[1] == pytest.approx(compared(n, sums, 0.0, is_reflected=True)[1][::-1], abs=1e-6)
