from __future__ import annotations

import math

import pytest

from adhere import Trial
from oracle import annealed_epsilon

from .reference import next_chances, taught


def test_epsilon_anneals_with_the_learners_own_lessons() -> None:
    for n_lessons in (0, 1, 2, 3, 9, 99):
        trial = taught("epsilon-greedy/actual", 3, [(0, 1.0)] * n_lessons)
        assert trial.state[-1] == pytest.approx(annealed_epsilon(1 + n_lessons), rel=1e-15)


def test_what_is_not_credited_does_not_anneal() -> None:
    trial = Trial("epsilon-greedy/comply", ("a", "b"))
    for _ in range(12):
        recommendation = trial.recommend()
        other = "b" if recommendation.arm == "a" else "a"
        trial.report(recommendation.id, actual=other, reward=1)
    assert trial.state == (*[0.0] * 6, 1.0)


def test_chances_by_hand() -> None:
    trial = taught("epsilon-greedy/actual", 3, [(0, 1.0), (0, 0.0), (1, 1.0)])
    epsilon = 1 / math.log(4 + 1e-7)
    assert trial.state[:9] == (2.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 0.0)
    assert next_chances(trial) == pytest.approx([epsilon / 3, 1 - epsilon * 2 / 3, epsilon / 3], abs=1e-15)


def test_an_uncredited_arm_has_mean_zero_and_ties_are_shared() -> None:
    trial = taught("epsilon-greedy(epsilon=0.3)/actual", 3, [(0, 0.0), (0, 0.0)])
    assert next_chances(trial) == pytest.approx([1 / 3] * 3)
    trial = taught("epsilon-greedy(epsilon=0.3)/actual", 3, [(0, 0.5), (2, 0.5)])
    assert next_chances(trial) == pytest.approx([0.1 + 0.35, 0.1, 0.1 + 0.35])


def test_a_fixed_epsilon_stays() -> None:
    trial = taught("epsilon-greedy(epsilon=0.3)/actual", 2, [(1, 1.0)] * 20)
    assert next_chances(trial) == pytest.approx([0.15, 0.85])


@pytest.mark.parametrize(("epsilon", "chances"), [(0, [0.0, 1.0]), (1, [0.5, 0.5])])
def test_epsilon_may_be_0_or_1(epsilon: int, chances: list[float]) -> None:
    trial = taught(f"epsilon-greedy(epsilon={epsilon})/actual", 2, [(1, 1.0)])
    assert next_chances(trial) == chances
    arms = {trial.recommend().arm for _ in range(50)}
    assert arms == ({"b"} if epsilon == 0 else {"a", "b"})
