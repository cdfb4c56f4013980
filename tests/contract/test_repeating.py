"""A choice can be repeated from its memo: the state changes as it did, and nothing is drawn."""

from __future__ import annotations

from adhere.trial.engine import Engine

from .playing import trial_on
from .policies_under_test import recycles, variants
from .populations_under_test import BINARY, GRADED, mixed

N_PATIENTS = 40


def test_a_choice_can_be_repeated_from_its_memo(subject: str, n_arms: int) -> None:
    population = mixed(n_arms, GRADED if recycles(subject) else BINARY)
    patients = population.patients(1, 0, N_PATIENTS)
    for text in variants(subject, n_arms):
        trial = trial_on(text, population, N_PATIENTS)
        engine: Engine = trial._engine
        n_changed = 0
        for actual, reward in zip(patients.actual, patients.reward, strict=True):
            before = trial._state
            recommendation = trial.recommend()
            again = engine.decide_again(before, recommendation.id, recommendation.memo)
            assert again.tobytes() == trial._state.tobytes(), text
            n_changed += again.tobytes() != before.tobytes()
            chosen = population.arms.index(recommendation.arm)
            trial.report(recommendation.id, actual=population.arms[actual[chosen]], reward=float(reward[chosen]))
        assert (n_changed > 0) == ("thompson-bounded" in text and recycles(text)), text
