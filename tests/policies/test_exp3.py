from __future__ import annotations

import math

import numpy as np
import pytest

from adhere import Exp3, HierarchicalBandit, InputError, Trial, parse_policy, simulate
from adhere.policies.base.policy import TrialShape
from adhere.policies.learners.exp3 import Exp3Memo, learn_exp3
from adhere.policies.numerics.exponential_weights import ExponentialWeights, exp_of_small
from adhere.randomness import stream
from oracle import default_gamma

from .reference import next_chances, taught

GAMMA = 0.4


def mixed(log_weights: list[float], gamma: float = GAMMA) -> list[float]:
    """(1 - γ) w_j / Σ w + γ / k."""
    weights = [math.exp(value) for value in log_weights]
    return [(1 - gamma) * weight / sum(weights) + gamma / len(weights) for weight in weights]


def test_two_updates_by_hand() -> None:
    trial = taught(f"exp3(gamma={GAMMA})/actual", 3, [(1, 1.0)])
    log_weights = [0.0, GAMMA / 3 * 1.0 / (1 / 3), 0.0]
    assert trial.state[:3] == pytest.approx(log_weights, abs=1e-15)
    y = mixed(log_weights)
    assert next_chances(trial) == pytest.approx(y, abs=1e-15)
    trial.report(trial.recommend().id, actual="b", reward=0.5)
    log_weights[1] += GAMMA / 3 * 0.5 / y[1]
    assert trial.state[:3] == pytest.approx(log_weights, abs=1e-15)
    assert next_chances(trial) == pytest.approx(mixed(log_weights), abs=1e-15)


def test_a_reward_of_zero_teaches_nothing() -> None:
    assert taught("exp3(gamma=0.4)/actual", 3, [(0, 0.0), (2, 0.0)]).state == (0.0,) * 3 + (1.0,) * 3


def test_late_feedback_is_weighted_by_the_credited_arms_chance_at_its_own_decision() -> None:
    """Under Actual the weight is the learner's own chance of the arm taken, when the patient was told."""
    trial = Trial(f"exp3(gamma={GAMMA})/actual", ("a", "b"))
    first, second = trial.recommend(), trial.recommend()
    for _ in range(5):
        trial.report(trial.recommend().id, actual="b", reward=1)
    third = trial.recommend()
    before = trial.state
    assert third.probabilities["a"] < 0.3
    trial.report(second.id, reward=1)
    assert trial.state == before
    trial.report(third.id, actual="a", reward=1)
    trial.report(second.id, actual="a")
    trial.report(first.id, actual="b", reward=0.25)
    gained_a = GAMMA / 2 * (1 / third.probabilities["a"] + 1 / 0.5)
    gained_b = GAMMA / 2 * 0.25 / 0.5
    log_weights = (before[0] + gained_a, before[1] + gained_b)
    assert trial.state[:2] == pytest.approx(log_weights, abs=1e-14)
    assert trial.state[2] / trial.state[3] == pytest.approx(math.exp(log_weights[0] - log_weights[1]), rel=1e-14)


@pytest.mark.parametrize("x", [0.0, 1e-300, 1e-9, 0.01, 0.1, 0.125, 0.1250001, 1.0, 40.0])
def test_the_short_series_is_the_exponential(x: float) -> None:
    assert exp_of_small(x) == pytest.approx(math.exp(x), rel=4e-16)


def test_weights_of_any_size_keep_their_ratios() -> None:
    """The weights pass what a float can hold many times over; their logarithms say what they must be."""
    rule = Exp3(gamma=0.5).assemble(TrialShape(3)).rule
    state, memo = ExponentialWeights(rule, ExponentialWeights.initial(rule)), Exp3Memo(rule, np.full(3, 0.01))
    rng = np.random.default_rng(8)
    for arm in rng.choice(3, 3000, p=[0.5, 0.3, 0.2]):
        learn_exp3(rule, state, memo, int(arm), 1.0, 1.0, stream(0, 0))
    logs, weights = state.log_weights, state.weights
    assert logs.min() > 8000
    expected = np.exp(logs - logs.max())
    assert weights / weights.sum() == pytest.approx(expected / expected.sum(), rel=1e-11)
    for _ in range(1000):  # and back from where the weight was 0
        learn_exp3(rule, state, memo, int(np.argmin(logs)), 1.0, 1.0, stream(0, 0))
    expected = np.exp(logs - logs.max())
    assert weights / weights.sum() == pytest.approx(expected / expected.sum(), rel=1e-11)


def test_gamma_follows_from_the_horizon() -> None:
    for n_arms, horizon in ((2, 10_000), (3, 500), (5, 1)):
        settled = Exp3().resolved(n_arms, horizon).gamma
        assert settled == pytest.approx(default_gamma(n_arms, horizon), rel=1e-15)
    assert Exp3().resolved(5, 1).gamma == 1.0
    assert Exp3(gamma=0.3).resolved(2, 10).gamma == 0.3
    assert Exp3(gamma=0.3).resolved(2, None).gamma == 0.3


def test_each_level_of_a_hierarchy_has_the_gamma_of_its_own_arms() -> None:
    settled = parse_policy("hierarchical(exp3)").resolved(n_arms=5, horizon=1000)
    assert isinstance(settled, HierarchicalBandit)
    assert isinstance(settled.base, Exp3)
    assert isinstance(settled.top, Exp3)
    assert settled.base.gamma == pytest.approx(default_gamma(5, 1000))
    assert settled.top.gamma == pytest.approx(default_gamma(3, 1000))
    settled = parse_policy("hierarchical(experts=[exp3/actual, exp3, exp3(gamma=0.5), ucb1])").resolved(2, 1000)
    assert isinstance(settled, HierarchicalBandit)
    assert settled.experts is not None
    assert isinstance(settled.top, Exp3)
    assert [getattr(expert, "gamma", None) for expert in settled.experts] == [
        *[pytest.approx(default_gamma(2, 1000))] * 2,
        0.5,
        None,
    ]
    assert settled.top.gamma == pytest.approx(default_gamma(4, 1000))


@pytest.mark.parametrize(
    "text", ["exp3", "exp3/actual", "hierarchical(ucb1)", "hierarchical(exp3, top=ucb1)", "thompson-bounded(exp3)"]
)
def test_without_gamma_or_horizon_there_is_no_exp3(text: str) -> None:
    with pytest.raises(InputError, match=r"this policy needs n_patients=… .* EXP3's γ"):
        parse_policy(text).resolved(2, None)
    with pytest.raises(InputError, match=r"this policy needs n_patients=… .* EXP3's γ"):
        Trial(text, ("a", "b"))


def test_the_settled_gamma_is_kept_in_the_result() -> None:
    result = simulate("exp3", "defiers", n_patients=50, n_runs=2, progress=False)[0]
    assert result.policy == "exp3"
    assert result.resolved == str(Exp3().resolved(2, 50))
