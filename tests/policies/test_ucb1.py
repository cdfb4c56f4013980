from __future__ import annotations

import math

import pytest

from adhere import Trial

from .reference import next_chances, taught


def test_uncredited_arms_come_first_and_share_the_chance() -> None:
    assert next_chances(taught("ucb1/actual", 3, [])) == pytest.approx([1 / 3] * 3)
    assert next_chances(taught("ucb1/actual", 3, [(1, 1.0)])) == pytest.approx([0.5, 0.0, 0.5])
    assert next_chances(taught("ucb1/actual", 3, [(1, 1.0), (0, 1.0)])) == [0.0, 0.0, 1.0]


def test_the_highest_index_is_chosen_by_hand() -> None:
    # Arm a: mean 2/3 of 3; arm b: mean 1/2 of 2; n = 5. Indices 1.70 and 1.77: the less tried arm wins.
    trial = taught("ucb1/actual", 2, [(0, 1.0), (0, 1.0), (0, 0.0), (1, 1.0), (1, 0.0)])
    assert 2 / 3 + math.sqrt(2 * math.log(5) / 3) < 1 / 2 + math.sqrt(2 * math.log(5) / 2)
    assert trial.state == pytest.approx((3, 2, 2, 1, 2 * math.log(5)))
    assert next_chances(trial) == [0.0, 1.0]
    # One more failure of b: 2/3 + 1.09 beats 1/3 + 1.09.
    trial.report(trial.recommend().id, actual="b", reward=0)
    assert next_chances(trial) == [1.0, 0.0]
    assert {trial.recommend().arm for _ in range(20)} == {"a"}


def test_equal_indices_share_the_chance() -> None:
    trial = taught("ucb1/actual", 3, [(0, 0.5), (1, 0.5), (2, 0.25)])
    assert next_chances(trial) == [0.5, 0.5, 0.0]
    assert {trial.recommend().arm for _ in range(40)} == {"a", "b"}


def test_n_counts_only_what_was_credited() -> None:
    trial = Trial("ucb1/comply", ("a", "b"), seed=1)
    for _ in range(10):
        recommendation = trial.recommend()
        trial.report(recommendation.id, actual="a", reward=1)
    n = trial.state[0]
    assert trial.state[1] == 0.0
    assert 0 < n < 10
    assert trial.state[4] == pytest.approx(2 * math.log(n))
