"""`kl-ucb` and its bound; the oracle has it by bisection."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adhere import simulate
from adhere.policies.learners.kl_ucb import largest_within
from oracle import kl_bound

from .reference import next_chances, taught


@pytest.mark.parametrize("n", [1, 2, 3, 10, 57, 1000, 10**6, 10**9])
def test_the_bound_is_that_of_bisection(n: int) -> None:
    """For means at both ends and in between, and explorations from hardly anything to far beyond log t."""
    rng = np.random.default_rng(n)
    means = [0.0, 1 / n, 0.5, 1 - 1 / n, 1.0, 1 - 2**-53, 2**-60, *rng.random(20)]
    for mean in means:
        for exploration in (0.0, 1e-3, 0.7, math.log(n + 1), 3 * math.log(n + 1), 50.0):
            found = largest_within(mean, exploration / n)
            assert mean <= found <= 1.0
            assert found == pytest.approx(kl_bound(mean, n, exploration), abs=1e-10), (mean, exploration)


def test_bounds_known_in_closed_form() -> None:
    """An arm that never succeeded: d(0, q) = -log(1 - q). One that always did: 1."""
    assert largest_within(0.0, 0.3) == pytest.approx(1 - math.exp(-0.3), abs=1e-15)
    assert largest_within(1.0, 0.3) == 1.0
    assert largest_within(0.4, 0.0) == 0.4


def test_it_is_below_the_bound_of_ucb1() -> None:
    """By Pinsker's inequality, d(p, q) ≥ 2 (p - q)²."""
    for mean in (0.0, 0.1, 0.5, 0.93):
        for radius in (0.001, 0.05, 0.4):
            assert largest_within(mean, radius) <= mean + math.sqrt(radius / 2) + 1e-15


def test_uncredited_arms_come_first_and_share_the_probability() -> None:
    assert next_chances(taught("kl-ucb/actual", 3, [])) == pytest.approx([1 / 3] * 3)
    assert next_chances(taught("kl-ucb/actual", 3, [(1, 1.0)])) == pytest.approx([0.5, 0.0, 0.5])
    assert next_chances(taught("kl-ucb/actual", 3, [(1, 1.0), (0, 1.0), (2, 1.0)])) == pytest.approx([1 / 3] * 3)


def test_the_highest_bound_is_chosen_by_hand() -> None:
    # Arm a: no success of 1; arm b: none of 2. 1 - exp(-log 3) = 0.67 against 1 - exp(-log 3 / 2) = 0.42.
    trial = taught("kl-ucb/actual", 2, [(0, 0.0), (1, 0.0), (1, 0.0)])
    assert trial.state == pytest.approx((1, 2, 0, 0, math.log(3)))
    assert next_chances(trial) == [1.0, 0.0]


def test_c_widens_the_bounds_by_log_log_t() -> None:
    lessons = [(0, 1.0)] * 5 + [(1, 0.0)] * 4
    assert taught("kl-ucb(c=3)/actual", 2, lessons).state[4] == pytest.approx(math.log(9) + 3 * math.log(math.log(9)))
    assert taught("kl-ucb(c=3)/actual", 2, lessons[:1]).state[4] == 0.0  # log log 1 does not exist
    assert taught("kl-ucb(c=3)/actual", 2, lessons[:2]).state[4] == 0.0  # log 2 + 3 log log 2 is below 0


def test_it_gains_more_than_ucb1_where_successes_are_rare() -> None:
    """The case that the paper makes for it: with small means the bounds of UCB1 are far too wide."""
    gains = [one.surplus.mean for one in simulate(["ucb1", "kl-ucb"], "rich-and-poor", 300, 50, progress=False)]
    assert gains[1] > gains[0]
