"""Feedback may come late, in parts, out of order and twice; each part of a policy learns from it exactly once."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from adhere import InputError, Trial
from adhere.policies.base.policy import TrialShape
from slow import slow

from .parts import is_settled, parts
from .playing import trial_on
from .policies_under_test import recycles, variants
from .populations_under_test import BINARY, GRADED, mixed

N_PATIENTS = 16
TOLERANCE = 1e-12


def same(one: Trial, other: Trial) -> bool:
    return bool(np.allclose(one.state, other.state, rtol=TOLERANCE, atol=TOLERANCE))


@pytest.mark.parametrize("rewards", [BINARY, slow(GRADED)])
def test_the_actual_arm_may_come_before_the_reward(subject: str, n_arms: int, rewards: tuple[float, ...]) -> None:
    population = mixed(n_arms, rewards)
    patients = population.patients(1, 0, N_PATIENTS)
    for text in variants(subject, n_arms):
        together, apart = (trial_on(text, population, N_PATIENTS) for _ in range(2))
        for actual, reward in zip(patients.actual, patients.reward, strict=True):
            recommendation = together.recommend()
            assert apart.recommend() == recommendation
            chosen = population.arms.index(recommendation.arm)
            taken, gain = population.arms[actual[chosen]], float(reward[chosen])
            together.report(recommendation.id, actual=taken, reward=gain)
            before = apart.state
            apart.report(recommendation.id, actual=taken)
            assert apart.state == before
            apart.report(recommendation.id, reward=gain)
            assert apart.state == together.state, text


def test_the_reward_may_come_before_the_actual_arm(subject: str, n_arms: int) -> None:
    """What needs only the reward learns at once, the rest when the actual arm is in; both end alike."""
    population = mixed(n_arms, BINARY)
    patients = population.patients(1, 0, N_PATIENTS)
    for text in variants(subject, n_arms):
        together, apart = (trial_on(text, population, N_PATIENTS) for _ in range(2))
        rule = apart.policy.assemble(TrialShape(n_arms, BINARY)).rule
        stretches = list(parts(apart.policy, rule, 0, len(apart.state)))
        for actual, reward in zip(patients.actual, patients.reward, strict=True):
            recommendation = together.recommend()
            assert apart.recommend().arm == recommendation.arm
            chosen = population.arms.index(recommendation.arm)
            taken, gain = population.arms[actual[chosen]], float(reward[chosen])
            together.report(recommendation.id, actual=taken, reward=gain)
            before = apart.state
            apart.report(recommendation.id, reward=gain)
            between = apart.state
            apart.report(recommendation.id, actual=taken)
            for protocol, stretch in stretches:
                rests = apart.state if is_settled(protocol, chosen, n_arms) else before
                assert between[stretch] == rests[stretch], (text, protocol)
            assert same(apart, together), text


def test_reports_may_come_in_any_order(subject: str, n_arms: int) -> None:
    """Updates from outstanding recommendations commute, as long as none of them draws from a cache."""
    population = mixed(n_arms, BINARY)
    for text in variants(subject, n_arms):
        ends = []
        for order in permutations(range(4)):
            trial = trial_on(text, population, N_PATIENTS)
            if not recycles(subject):
                trial.report(trial.recommend().id, actual=population.arms[1], reward=1)
            ids = [trial.recommend().id, trial.recommend().id]
            for part in order:
                if part < 2:
                    trial.report(ids[part], actual=population.arms[part])
                else:
                    trial.report(ids[part - 2], reward=3 - part)
            ends.append(trial)
        assert all(same(ends[0], end) for end in ends), text


@pytest.mark.parametrize("text", [f"{name}/{how}" for name in ("thompson", "ucb1") for how in ("actual", "comply")])
def test_three_outstanding_recommendations_in_all_720_orders(text: str) -> None:
    arms = ("no", "yes")
    reports = [(place, part) for place in range(3) for part in ("actual", "reward")]
    ends = []
    for order in permutations(reports):
        trial = Trial(text, arms, seed=3)
        ids = [trial.recommend().id for _ in range(3)]
        for place, part in order:
            if part == "actual":
                trial.report(ids[place], actual=arms[(place + 1) % 2])
            else:
                trial.report(ids[place], reward=place % 2)
        ends.append(trial)
    assert all(same(ends[0], end) for end in ends)


def test_a_report_twice_changes_nothing_and_another_is_refused(subject: str, n_arms: int) -> None:
    population = mixed(n_arms, BINARY)
    first, second = population.arms[:2]
    for text in variants(subject, n_arms):
        trial = trial_on(text, population, N_PATIENTS)
        finished, rewarded, taken = (trial.recommend().id for _ in range(3))
        trial.report(finished, actual=first, reward=1)
        trial.report(rewarded, reward=1)
        trial.report(taken, actual=second)
        learned = trial.state
        for _ in range(2):
            trial.report(finished, actual=first, reward=1)
            trial.report(finished, reward=1)
            trial.report(finished, actual=first)
            trial.report(rewarded, reward=1)
            trial.report(taken, actual=second)
        for where in (finished, rewarded):
            with pytest.raises(InputError, match=f"conflicts with an earlier report for recommendation {where}"):
                trial.report(where, actual=first, reward=0)
        for where, arm in ((finished, second), (taken, first)):
            with pytest.raises(InputError, match=f"conflicts with an earlier report for recommendation {where}"):
                trial.report(where, actual=arm, reward=1)
        assert trial.state == learned, text
        # A refused report left nothing behind: what it also said is still open.
        trial.report(rewarded, actual=second, reward=1)
        trial.report(taken, actual=second, reward=0)
