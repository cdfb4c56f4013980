"""A choice can be replayed from its memo and arm: the state changes as the choice changed it, and nothing is drawn.

The memo is that which the choice itself wrote.
"""

from __future__ import annotations

from adhere.compilation import state_of
from adhere.policies.base.generic import note_allocation
from adhere.randomness import CHOOSE, point
from adhere.trial.policy.steps import CHOOSE_ARM

from .playing import trial_on
from .policies_under_test import recycles, variants
from .populations_under_test import graded_rewards, mixed

N_PATIENTS = 40


def test_a_choice_can_be_replayed_from_its_memo(subject: str, n_arms: int) -> None:
    population = mixed(n_arms, graded_rewards(subject))
    patients = population.patients(1, 0, N_PATIENTS)
    for text in variants(subject, n_arms):
        trial = trial_on(text, population, N_PATIENTS)
        n_changed = 0
        for index, (actual, reward) in enumerate(zip(patients.actual, patients.reward, strict=True)):
            before = trial._state
            recommendation = trial.recommend()  # whose event the reducer replays
            engine, chosen_state = before.engine, before.policy_state.copy()
            memo = engine._buffers.memo
            memo.fill(0.0)
            engine._run(CHOOSE_ARM, chosen_state, memo, engine._buffers.rng, index)
            assert recommendation.memo == tuple(memo[: engine.memo_size].tolist()), text
            point(engine._buffers.rng, index, CHOOSE)
            arm = population.arms.index(recommendation.arm)
            note_allocation(engine._rule, state_of(engine._rule, chosen_state), arm, engine._buffers.rng)
            assert trial._state.policy_state.tobytes() == chosen_state.tobytes(), text
            n_changed += chosen_state.tobytes() != before.policy_state.tobytes()
            chosen = population.arms.index(recommendation.arm)
            trial.report(recommendation.id, actual=population.arms[actual[chosen]], reward=float(reward[chosen]))
        has_changed = ("thompson-bounded" in text and recycles(text)) or "burn-in" in text
        assert (n_changed > 0) == has_changed, text
