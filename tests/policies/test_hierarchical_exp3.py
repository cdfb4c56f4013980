from __future__ import annotations

import math

import numpy as np
import pytest

from adhere import HierarchicalExp3, InputError, Trial, simulate

ETA, RHO = 0.3, 0.2
POLICY = f"hierarchical-exp3(eta={ETA}, rho={RHO})"


def shares(log_weights: np.ndarray) -> np.ndarray:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def test_every_step_by_hand() -> None:
    """v_i ← v_i exp(-η ℓ / x_i), w_ij ← w_ij exp(-ρ ℓ / (x_i y_ij)) for the expert drawn, ℓ = 1 - r."""
    trial = Trial(POLICY, ("a", "b"), seed=4)
    rng = np.random.default_rng(0)
    v, w = np.zeros(3), np.zeros((3, 2))
    credited = 0
    for _ in range(40):
        recommendation = trial.recommend()
        x, y = shares(v), np.array([shares(row) for row in w])
        assert list(recommendation.probabilities.values()) == pytest.approx(x @ y, abs=1e-12)
        drawn, chosen = int(recommendation.memo[0]), "ab".index(recommendation.arm)
        actual, reward = int(rng.integers(2)), float(rng.choice([0.0, 0.25, 1.0]))
        v[drawn] -= ETA * (1 - reward) / x[drawn]
        arm = (chosen, actual, chosen if chosen == actual else None)[drawn]
        if arm is not None:
            credited += 1
            w[drawn, arm] -= RHO * (1 - reward) / (x[drawn] * y[drawn, arm])
        trial.report(recommendation.id, actual="ab"[actual], reward=reward)
        state = np.array(trial.state)
        assert shares(state[:3]) == pytest.approx(shares(v), abs=1e-12)
        assert np.array([shares(row) for row in state[3:].reshape(3, 2)]) == pytest.approx(
            np.array([shares(row) for row in w]), abs=1e-12
        )
    assert 20 < credited < 40


def test_rates_follow_from_the_horizon() -> None:
    settled = HierarchicalExp3().resolved(n_arms=5, horizon=1000)
    assert settled.eta == pytest.approx(math.sqrt(2 * math.log(3) / 3000))
    assert settled.rho == pytest.approx(math.sqrt(2 * math.log(5) / 5000))
    assert HierarchicalExp3(eta=0.1).resolved(5, 1000).eta == 0.1
    assert HierarchicalExp3(eta=0.1, rho=0.2).resolved(5, None).rho == 0.2


def test_without_rates_there_must_be_a_horizon() -> None:
    with pytest.raises(InputError, match=r"this policy needs n_patients=… .* ρ"):
        HierarchicalExp3(eta=0.1).resolved(2, None)


def test_huge_rates_leave_finite_weights() -> None:
    result = simulate("hierarchical-exp3(eta=1e9, rho=1e9)", "rich-and-poor", 2000, 20, progress=False)[0]
    assert np.isfinite(result.reward.mean)
