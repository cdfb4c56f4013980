"""The probabilities a trial states are those with which its arms are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from adhere import Trial
from adhere.compilation.layout import Floats
from adhere.contract.promises import unlike
from adhere.trial.policy.steps import CHOOSE_ARM

from .playing import trial_on
from .policies_under_test import variants
from .populations_under_test import mixed

HORIZON = 40
N_DRAWS = 4000


def draws_from(trial: Trial, n_draws: int) -> tuple[Floats, Floats]:
    """How often each arm is drawn when the next choice is made over and over, and the probabilities stated for it.

    What a policy states may be of a draw that it made for this recommendation alone: then it is the mean of many.
    """
    engine, first = trial._state.engine, np.array(trial.state)
    counts, state, memo, rng = np.zeros(len(trial.arms)), first.copy(), engine._buffers.memo, engine._buffers.rng
    numbers = range(HORIZON, HORIZON + n_draws)  # after the burn-in, if there is one
    for number in numbers:
        state[:] = first
        counts[engine._run(CHOOSE_ARM, state, memo, rng, number)] += 1
    stated = [engine.choose(first, number).probabilities for number in numbers[:2]]
    if stated[0] != stated[1]:
        stated += [engine.choose(first, number).probabilities for number in numbers[2 : n_draws // 4]]
    return counts, np.mean(stated, axis=0)


def test_probabilities_are_probabilities(subject: str, n_arms: int) -> None:
    population = mixed(n_arms)
    patients = population.patients(2, 0, HORIZON)
    for text in variants(subject, n_arms):
        trial = trial_on(text, population, HORIZON)
        for actual, reward in zip(patients.actual, patients.reward, strict=True):
            recommendation = trial.recommend()
            stated = np.array(list(recommendation.probabilities.values()))
            assert tuple(recommendation.probabilities) == population.arms
            assert stated.sum() == pytest.approx(1.0, abs=1e-9), text
            assert ((stated >= 0.0) & (stated <= 1.0)).all(), text
            assert recommendation.probabilities[recommendation.arm] > 0.0, text
            assert not recommendation.estimated
            chosen = population.arms.index(recommendation.arm)
            trial.report(recommendation.id, actual=population.arms[actual[chosen]], reward=float(reward[chosen]))


def test_probabilities_match_the_frequencies_of_arms(subject: str, n_arms: int) -> None:
    population = mixed(n_arms)
    patients = population.patients(4, 0, HORIZON)
    trial = trial_on(subject, population, HORIZON)
    for actual, reward in zip(patients.actual, patients.reward, strict=True):
        recommendation = trial.recommend()
        chosen = population.arms.index(recommendation.arm)
        trial.report(recommendation.id, actual=population.arms[actual[chosen]], reward=float(reward[chosen]))
    assert unlike(*draws_from(trial, N_DRAWS)) == ""
