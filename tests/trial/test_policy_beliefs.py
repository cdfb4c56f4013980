"""What the monitor says of the beliefs of each kind of policy, from states that are set here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adhere.trial.monitoring.policy_beliefs import Belief, Inside, beliefs
from adhere.trial.policy.engine import Engine
from adhere.trial.secret.trial_keys import seeded_keys
from adhere_client.responses.monitor import OddsOfMediation, Posterior, Weights


def _believed(policy: str, learned: Callable[[Any], None] = lambda state: None) -> list[Belief]:
    engine = Engine(policy, 2, seeded_keys(1), n_patients=100)
    rule, state, memo, rng = engine.inside(engine.first_state, 0)
    learned(state)
    return list(beliefs(engine.policy, Inside(rule, state, memo, rng, ("a", "b"))))


def test_a_guarded_thompson_has_the_posteriors_of_the_one_inside() -> None:
    def learned(state: Any) -> None:
        state.inner.successes[1] += 8.0
        state.inner.failures[1] += 2.0

    found = _believed("floor(thompson/actual, share=0.3)", learned)
    assert [(one.part, one.of, one.arm, one.alpha, one.beta) for one in found if isinstance(one, Posterior)] == [
        ("thompson/actual", "taken", "a", 1.0, 1.0),
        ("thompson/actual", "taken", "b", 9.0, 3.0),
    ]
    last = found[1]
    assert isinstance(last, Posterior)
    assert (last.mean, round(last.low, 3), round(last.high, 3)) == (0.75, 0.482, 0.94)  # of Beta(9, 3), by R


def test_a_policy_whose_state_is_not_known_believes_nothing() -> None:
    assert _believed("uniform") == []


def test_the_weights_of_experts_are_those_of_the_top() -> None:
    def learned(state: Any) -> None:
        state.log_v[:] = np.log([1.0, 2.0, 1.0])

    (found,) = _believed("hierarchical-exp3", learned)
    assert isinstance(found, Weights)
    assert (found.of, list(found.weights)) == ("experts", ["exp3", "exp3/actual", "exp3/comply"])
    assert list(found.weights.values()) == pytest.approx([0.25, 0.5, 0.25])


def test_a_hierarchy_has_weights_and_the_posteriors_of_its_experts() -> None:
    found = _believed("hierarchical(thompson)")
    assert isinstance(found[0], Weights)
    assert list(found[0].weights.values()) == pytest.approx([1 / 3] * 3)
    posteriors = [one for one in found if isinstance(one, Posterior)]
    assert [(one.of, one.arm) for one in posteriors[::2]] == [
        ("assigned", "a"),
        ("taken", "a"),
        ("assigned and taken", "a"),
    ]
    # The prior of the certified expert counts for one over its probability of being asked.
    assert [one.alpha for one in posteriors[::2]] == pytest.approx([3.0, 1.0, 1.0])


def test_the_odds_of_mediation_are_the_inverse_of_those_of_confounding() -> None:
    def learned(state: Any) -> None:
        state.odds = 4.0
        state.successes[0, 1] += 6.0  # told a, took b
        state.chosen_successes[0] += 6.0

    found = _believed("mediated-thompson", learned)
    odds = found[0]
    assert isinstance(odds, OddsOfMediation)
    assert odds.log_odds == pytest.approx(-math.log(4.0))
    assert odds.probability == pytest.approx(0.2)
    alphas = {(one.of, one.arm): one.alpha for one in found if isinstance(one, Posterior)}
    assert alphas == {("taken", "a"): 1.0, ("taken", "b"): 7.0, ("assigned", "a"): 7.0, ("assigned", "b"): 1.0}
