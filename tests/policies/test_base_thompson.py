from __future__ import annotations

import math

import pytest

from adhere import Recommendation, Trial

from .reference import chances_of_largest, taught

pytestmark = pytest.mark.usefixtures("uncompiled")
HIERARCHY = "hierarchical(thompson, top=exp3(gamma=0.3))"
CERTIFIED, ACTUAL, COMPLY = slice(6, 13), slice(13, 20), slice(20, 27)  # after the top's three arms


def first_drawn(expert: int) -> tuple[Trial, Recommendation]:
    """A trial whose first recommendation came from this expert."""
    for seed in range(30):
        trial = Trial(HIERARCHY, ("a", "b"), seed)
        recommendation = trial.recommend()
        if recommendation.memo[0] == expert:
            return trial, recommendation
    raise AssertionError("the expert was never drawn")


def test_on_its_own_it_is_thompson() -> None:
    lessons = [(0, 1.0), (1, 0.0), (0, 0.3), (2, 1.0)]
    one, other = taught("base-thompson/actual", 3, lessons), taught("thompson/actual", 3, lessons)
    assert one.state == other.state
    assert [one.recommend().arm for _ in range(30)] == [other.recommend().arm for _ in range(30)]


@pytest.mark.parametrize("reward", [0, 1])
def test_the_certified_expert_learns_in_steps_of_one_over_its_chance(reward: int) -> None:
    trial, recommendation = first_drawn(expert=0)
    assert recommendation.memo[1] == pytest.approx(3.0)
    trial.report(recommendation.id, actual="a", reward=reward)
    chosen = "ab".index(recommendation.arm)
    expected = [0.0] * 4
    expected[chosen if reward else 2 + chosen] = 3.0
    assert trial.state[CERTIFIED][:4] == pytest.approx(expected)


def test_the_certified_expert_learns_only_when_drawn_and_the_others_always() -> None:
    trial, recommendation = first_drawn(expert=1)
    assert recommendation.memo[1] == 1.0
    trial.report(recommendation.id, actual=recommendation.arm, reward=1)
    learned = [1.0] * 4
    learned["ab".index(recommendation.arm)] = 2.0
    assert trial.state[CERTIFIED][:4] == (0.0,) * 4
    assert list(trial.state[ACTUAL][:4]) == list(trial.state[COMPLY][:4]) == learned


def test_its_prior_weighs_one_over_the_chance_of_the_decision_at_hand() -> None:
    trial, recommendation = first_drawn(expert=0)
    trial.report(recommendation.id, actual=recommendation.arm, reward=1)
    raised = math.exp(0.3 / 3 * 1 / (1 / 3))
    x = [0.7 * w / (raised + 2) + 0.1 for w in (raised, 1.0, 1.0)]
    prior = 1 / x[0]
    certified = chances_of_largest([3.0 + prior, prior], [prior, prior])[0]
    others = chances_of_largest([2.0, 1.0], [1.0, 1.0])[0]
    chance = trial.recommend().probabilities[recommendation.arm]
    assert chance == pytest.approx(x[0] * certified + (x[1] + x[2]) * others, abs=1e-9)
