from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adhere import InputError, Thompson
from adhere.compilation import Memo
from adhere.policies.base.policy import TrialShape
from adhere.policies.learners.thompson import choose_thompson, learn_thompson, probabilities_thompson
from adhere.policies.numerics import beta_posterior
from adhere.policies.numerics.beta_posterior import BetaPosterior
from adhere.randomness import stream
from adhere.trial.policy.engine import Engine
from adhere.trial.secret.trial_keys import seeded_keys

from .reference import chances_of_largest, next_chances, probability_of_largest, taught

RULE = Thompson().assemble(TrialShape(2)).rule
NOTHING = Memo(RULE, np.zeros(0))


def fresh() -> BetaPosterior:
    return BetaPosterior(RULE, BetaPosterior.initial(RULE))


def count(state: BetaPosterior, arm: int, success: bool) -> None:
    """One success or failure of an arm."""
    learn_thompson(RULE, state, NOTHING, arm, float(success), 1.0, stream(0, 0))


def expected_p(state: BetaPosterior) -> float:
    """P(θ_1 > θ_0) from the counts alone."""
    return probability_of_largest(state.successes.tolist(), state.failures.tolist(), 1)


@pytest.mark.parametrize(
    ("lessons", "chance_of_b"),
    [
        ([], 1 / 2),
        ([(1, 1)], 2 / 3),  # against a uniform θ_0, P(θ_1 > θ_0) = E[θ_1]
        ([(1, 0)], 1 / 3),
        ([(0, 1)], 1 / 3),
        ([(0, 0)], 2 / 3),
        ([(0, 0), (1, 1)], 5 / 6),  # P(θ_1 > θ_0) = E[1 - (1 - θ_1)²] for θ_1 ~ Beta(2, 1)
        ([(1, 1), (0, 1)], 1 / 2),
    ],
)
def test_first_lessons_by_hand(lessons: list[tuple[int, float]], chance_of_b: float) -> None:
    trial = taught("thompson/actual", 2, lessons)
    assert next_chances(trial) == pytest.approx([1 - chance_of_b, chance_of_b], abs=1e-15)


def test_successes_and_failures_are_counted_from_one() -> None:
    trial = taught("thompson/actual", 3, [(0, 1), (0, 1), (1, 0), (2, 1)])
    assert trial.state[:6] == (3, 1, 2, 1, 2, 1)


def test_p_is_exact_after_2000_lessons_of_a_trial() -> None:
    rng = np.random.default_rng(1)
    lessons = [(int(arm), float(rng.random() < (0.45, 0.5)[arm])) for arm in rng.integers(0, 2, 2000)]
    trial = taught("thompson/actual", 2, lessons)
    state = BetaPosterior(RULE, np.array(trial.state))
    assert state.floats[:4].sum() == 2004
    assert next_chances(trial)[1] == pytest.approx(expected_p(state), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_p_is_followed_exactly_through_2000_random_lessons(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state, means, favours = fresh(), rng.random(2), rng.random()
    for step in range(1, 2001):
        arm = int(rng.random() < favours)
        count(state, arm, bool(rng.random() < means[arm]))
        if step % 250 == 0:
            assert state.p == pytest.approx(expected_p(state), abs=1e-9)


@pytest.mark.parametrize("better", [0, 1])
def test_p_comes_back_from_where_no_float_can_hold_it(better: int) -> None:
    """h underflows many times over, and must rise again exactly when the arms come together."""
    state, n = fresh(), 2_000
    for _ in range(n):
        count(state, better, True)
        count(state, 1 - better, False)
    assert state.p == pytest.approx(better, abs=1e-15)
    assert state.exponent > 5  # steps of 2^-512 below what h began with
    assert np.isfinite(state.floats).all()
    for step in range(n):
        count(state, better, False)
        count(state, 1 - better, True)
        if step >= n - 100 and step % 50 == 49:
            assert state.p == pytest.approx(expected_p(state), abs=1e-9)
    assert state.floats[:4].tolist() == [n + 1.0] * 4
    assert state.exponent == 0.0
    assert state.p == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("n_arms", [3, 4, 5])
def test_chances_of_more_arms_are_those_of_their_betas(n_arms: int) -> None:
    rng = np.random.default_rng(n_arms)
    lessons = [(int(arm), float(rng.random() < 0.3 + 0.1 * arm)) for arm in rng.integers(0, n_arms, 40)]
    trial = taught("thompson/actual", n_arms, lessons)
    successes, failures = trial.state[:n_arms], trial.state[n_arms : 2 * n_arms]
    assert next_chances(trial) == pytest.approx(chances_of_largest(successes, failures), abs=1e-9)


def test_a_reward_between_0_and_1_is_a_success_that_often() -> None:
    lessons = [(0, 0.3)] * 3000
    successes = taught("thompson/actual", 2, lessons).state[0] - 1
    assert abs(successes - 900) < 4 * (3000 * 0.3 * 0.7) ** 0.5


@pytest.mark.parametrize("better", [0, 1])
def test_no_arm_is_ever_impossible(better: int) -> None:
    """Where the recurrence has only rounding noise left, p is 10⁻¹² from certainty: logged so, and drawn so."""
    engine, state = Engine("thompson", 2, seeded_keys(1)), fresh()
    for _ in range(2000):
        count(state, better, True)
        count(state, 1 - better, False)
    choice = engine.choose(state.floats, 7)
    assert choice.chosen == better
    assert choice.probabilities[1 - better] == pytest.approx(1e-12, rel=1e-3, abs=0.0)
    assert 0.0 < min(choice.probabilities) <= max(choice.probabilities) < 1.0


@pytest.mark.parametrize("p", [-1e-17, 0.0, 1e-13, 1e-12, 3e-12, 0.3, 1.0 - 1e-13, 1.0, 1.0 + 1e-16])
def test_the_arm_drawn_follows_the_clipped_probability(p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    state, out = fresh(), np.zeros(2)
    state.p = p
    probabilities_thompson(RULE, state, NOTHING, 1.0, out, stream(0, 0))
    assert out[1] == min(1.0 - 1e-12, max(1e-12, p))
    for u in (0.0, 0.99e-12, 1.01e-12, 2.9e-12, 0.2, 0.4, 1.0 - 1.01e-12, 1.0 - 0.99e-12, 1.0 - 2.0**-53):
        monkeypatch.setattr(beta_posterior, "uniform", lambda _, u=u: u)
        assert choose_thompson(RULE, state, NOTHING, 1.0, stream(0, 0)) == (u < out[1]), u


def test_a_protocol_is_given_by_name() -> None:
    unnamed: Any = Thompson
    with pytest.raises(InputError, match=r"^Thompson takes its protocol by name: Thompson\(protocol='actual'\)$"):
        unnamed("actual")
