"""Theorems 1 and 2: how regret grows with the number of patients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from adhere import ComplianceType, ComplianceTypes, simulate
from adhere.compilation import Kernel, memo_of, state_of
from adhere.policies import as_policy
from adhere.policies.base.generic import choose, remember, update
from adhere.policies.base.policy import TrialShape
from adhere.populations import Population, defiers, rich_and_poor
from adhere.randomness import CHOOSE, LEARN, PATIENT, point, stream, uniform

Floats = NDArray[np.float64]

# The treatment harms the compliers by 0.2, so the arms differ by 0.1; but Actual prefers it, for most who take it
# are well-off always-takers. A hybrid's inner policy is misled here, which makes its guarantee worth something.
CONFOUNDED = ComplianceTypes(
    "confounded",
    ("control", "treatment"),
    [ComplianceType("always-taker", 0.5, reward=(None, 0.75)), ComplianceType("complier", 0.5, reward=(0.5, 0.3))],
)


def test_the_confounded_population() -> None:
    means = CONFOUNDED.mean_given_chosen()
    assert means[0] - means[1] == pytest.approx(0.1)
    assert np.diff(CONFOUNDED.mean_given_actual())[0] == pytest.approx(0.1)


def share_explained(x: Floats, y: Floats) -> float:
    residual = y - np.polyval(np.polyfit(x, y, 1), x)
    return float(1.0 - residual.var() / y.var())


@pytest.mark.slow
def test_theorem_2_regret_of_thompson_bounded_is_logarithmic() -> None:
    policy = "thompson-bounded(hierarchical(epsilon-greedy))"
    t = np.logspace(3, 6, 13).round().astype(int)
    along = simulate(policy, CONFOUNDED, 10**6, 60, seed=1, grid=t.tolist())[0].trajectory("regret")
    regret, log_t = along.mean, np.log(along.t)
    # Against log T it is a line; against √T it is not.
    assert share_explained(log_t, regret) > 0.97
    assert 1 - share_explained(np.sqrt(along.t), regret) > 4 * (1 - share_explained(log_t, regret))
    # The exponent of a power law would be 0.5 for √T; for a + b log T it falls towards 0.
    last_two_decades = along.t >= 10**4
    exponent = np.polyfit(log_t[last_two_decades], np.log(regret[last_two_decades]), 1)[0]
    assert exponent < 0.25
    # Each decade costs about the same: √T would multiply the cost by 3.2, T by 10.
    decade = np.diff(np.interp(np.log([1e4, 1e5, 1e6]), log_t, regret))
    assert decade[1] < 1.8 * decade[0]
    # Monte Carlo error: known to within a fifth, while √T would make the last 32 times the first.
    assert (along.se < 0.1 * regret).all()
    assert regret[-1] < 6 * regret[0]


LENGTHS = [10**4, 10**5, 10**6]
N_RUNS = [100, 40, 10]


def final_regret(policy: str, population: Population, seed: int) -> tuple[Floats, Floats]:
    """Regret and its standard error for each length of trial, every trial anew with numbers fitted to it."""
    estimates = [
        simulate(policy, population, length, n, seed=seed)[0].regret
        for length, n in zip(LENGTHS, N_RUNS, strict=True)
    ]
    return np.array([one.mean for one in estimates]), np.array([one.se for one in estimates])


def exponent_with_error(mean: Floats, se: Floats) -> tuple[float, float]:
    """The exponent of T between the first and the last length, and its standard error."""
    span = np.log(LENGTHS[-1] / LENGTHS[0])
    error = np.hypot(se[0] / mean[0], se[-1] / mean[-1]) / span
    return float(np.log(mean[-1] / mean[0]) / span), float(error)


@pytest.mark.parametrize("population", [defiers(), rich_and_poor()], ids=["defiers", "rich and poor"])
def test_theorem_1_regret_of_hierarchical_exp3_is_of_the_order_of_root_t(population: Population) -> None:
    mean, se = final_regret("hierarchical(exp3)", population, seed=2)
    exponent, error = exponent_with_error(mean, se)
    assert error < 0.03
    assert 0.4 < exponent < 0.6
    assert exponent + 4 * error < 0.75
    # γ follows from the length, so that √T is what it is designed for: the constant does not grow.
    assert mean[-1] / 10**3 < 1.3 * mean[0] / 10**2


def test_theorem_1_does_not_hold_for_annealed_epsilon_greedy() -> None:
    """It explores T / log T times, and so does every hybrid built on it."""
    mean, se = final_regret("hierarchical(epsilon-greedy)", defiers(), seed=3)
    exponent, error = exponent_with_error(mean, se)
    assert exponent - 4 * error > 0.75
    assert mean[-1] / 10**3 > 3 * mean[0] / 10**2


def compliers(*rewards: float) -> ComplianceTypes:
    return ComplianceTypes("compliers", ("a", "b"), [ComplianceType("complier", 1.0, reward=rewards)])


@pytest.mark.parametrize(
    ("policy", "population", "share"),
    [
        ("exp3(gamma=0.5)", compliers(0.0, 1.0), 0.75),
        ("exp3(gamma=1e-6)/actual", rich_and_poor(), None),
        ("exp3(gamma=0.085)/actual", defiers(), 0.085 / 2),
    ],
)
def test_exponential_weights_are_finite_after_ten_million_patients(
    policy: str, population: Population, share: float | None
) -> None:
    """And still the arm that pays gets all but its share of exploring; where Actual is misled, the other one does."""
    n_patients = 10**7
    assembled = as_policy(policy).resolved(population.n_arms, n_patients).assemble(TrialShape(population.n_arms))
    state, memo = assembled.state.copy(), np.zeros(assembled.memo_size + assembled.scratch_size)
    tables = population.tables(0, 0, 1)
    arguments = (
        assembled.rule,
        state,
        memo,
        stream(0, 0),
        tables.cumulative[0, 0],
        tables.actual,
        tables.reward,
        n_patients,
    )
    reward = Kernel(play).compiled(*arguments)(*arguments)
    assert np.isfinite(state).all()
    assert np.isfinite(memo).all()
    assert share is None or reward / n_patients == pytest.approx(share, abs=0.002)


def play(
    rule: Any, floats: Any, memo_floats: Any, rng: Any, cumulative: Any, actual: Any, reward: Any, n_patients: int
) -> float:
    """The reward of one trial of patients who are drawn whole, on a state that can be looked at afterwards."""
    state, memo = state_of(rule, floats), memo_of(rule, memo_floats)
    total = 0.0
    for t in range(n_patients):
        point(rng, t, CHOOSE)
        remember(rule, state, memo)
        chosen = choose(rule, state, memo, 1.0, rng)
        point(rng, t, PATIENT)
        number, cell = uniform(rng), 0
        while number >= cumulative[cell]:
            cell += 1
        point(rng, t, LEARN)
        update(rule, state, memo, chosen, actual[chosen, cell], reward[chosen, cell], 1.0, rng)
        total += reward[chosen, cell]
    return total


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["hierarchical(exp3)", "hierarchical-exp3"])
def test_hierarchies_of_exponential_weights_still_choose_after_ten_million_patients(policy: str) -> None:
    """Whichever arm pays: weights that are no numbers would pick the same one in both trials."""
    for rewards in ((0.0, 1.0), (1.0, 0.0)):
        outcome = simulate(policy, compliers(*rewards), 10**7, 1, grid=2, progress=False)[0]
        assert outcome.favours_best_arm.mean == 1.0
        assert outcome.reward.mean > 0.99 * 10**7
