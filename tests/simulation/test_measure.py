"""What is measured: identities, small tallies worked out by hand, and unbiasedness."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from adhere import simulate
from adhere.populations import Population, as_population
from adhere.simulation.measures.measure import Columns, Tallies, measures, n_last, rows_of_policies

from .engine import tallies_of
from .mixed_populations import THREE_ARMS, TWO_ARMS, engine_population

POPULATIONS = [engine_population(TWO_ARMS), engine_population(THREE_ARMS), as_population("uniform-any")]
POLICIES = ["uniform", "thompson", "epsilon-greedy/actual"]
# Two-sided; with some thirty z-tests in this file a sound engine fails one with probability below 1%.
LARGEST_Z = 3.7


def tallies(pulls: ArrayLike, last: ArrayLike, rewards: ArrayLike = 0.0, baselines: ArrayLike = 0.0) -> Tallies:
    """Tallies at a single point of the grid, [run, arm] each."""
    arms = np.array(pulls, np.int64)[:, None, :]
    one = np.zeros((len(arms), 1))
    return Tallies(
        arms,
        one + np.asarray(rewards),
        one + np.asarray(baselines),
        np.ones((len(arms), 1), np.int64),
        np.array(last, np.int64),
    )


def column(rows: NDArray[np.float64], n_arms: int, *name: str) -> list[float]:
    columns = Columns(1, n_arms)
    kind, label = name
    where = columns.share(label) if kind == "share" else columns.measure(label, difference=kind == "difference")
    return [float(value) for value in rows[:, where].ravel()]


def test_hand_made_tallies() -> None:
    means = np.array([[0.25, 0.75]])
    own = tallies([[1, 3], [2, 2], [3, 1]], [[0, 2], [1, 1], [2, 0]], [[3.0], [2.0], [1.0]], [[2.5], [1.0], [2.5]])
    other = tallies([[4, 0], [0, 4], [2, 2]], [[2, 0], [0, 2], [1, 1]])
    rows, _ = rows_of_policies([own, other], means, np.array([4.0]), reference=1)
    assert column(rows, 2, "measure", "surplus") == [0.5, 0.0, -0.5]
    assert column(rows, 2, "measure", "regret") == [0.5, 1.0, 1.5]
    assert column(rows, 2, "measure", "reward") == [3.0, 2.0, 1.0]
    assert column(rows, 2, "measure", "realised_surplus") == [0.5, 1.0, -1.5]
    assert column(rows, 2, "difference", "surplus") == [1.5, -1.0, -0.5]
    assert column(rows, 2, "share", "worse_than_randomisation") == [0.0, 0.0, 1.0]
    # In the second run a lesser arm leads just as much, so no best arm is favoured.
    assert column(rows, 2, "share", "favours_best_arm") == [1.0, 0.0, 0.0]


def test_favours_any_of_several_best_arms() -> None:
    means = np.array([[0.5, 0.5, 0.2]])
    last = [[5, 0, 0], [2, 2, 1], [0, 3, 2], [2, 1, 2], [0, 0, 5]]
    (rows,) = rows_of_policies([tallies([[5, 5, 5]] * 5, last)], means, np.array([15.0]), reference=0)
    assert column(rows, 3, "share", "favours_best_arm") == [1.0, 1.0, 1.0, 0.0, 0.0]


def test_each_run_has_its_own_best_arm_where_each_has_its_own_population() -> None:
    means = np.array([[0.9, 0.1], [0.2, 0.4]])
    (rows,) = rows_of_policies([tallies([[4, 0], [4, 0]], [[2, 0], [2, 0]])], means, np.array([4.0]), reference=0)
    assert column(rows, 2, "measure", "surplus") == pytest.approx([1.6, -0.4])
    assert column(rows, 2, "share", "favours_best_arm") == [1.0, 0.0]


@pytest.mark.parametrize("mean", [0.1, 0.3, 0.7])
def test_nothing_is_worse_than_randomisation_where_all_arms_are_alike(mean: float) -> None:
    (rows,) = rows_of_policies([tallies([[1, 2, 3]], [[1, 0, 0]])], np.full((1, 3), mean), np.array([6.0]), 0)
    assert column(rows, 3, "share", "worse_than_randomisation") == [0.0]


@pytest.mark.parametrize("means", [(0.1, 0.2, 0.4), (0.61, 0.66), (0.9064, 0.9103)])
def test_even_allocation_is_not_worse_than_randomisation(means: tuple[float, ...]) -> None:
    k = len(means)
    (rows,) = rows_of_policies([tallies([[50] * k], [[1] * k])], np.array([means]), np.array([50.0 * k]), 0)
    assert column(rows, k, "share", "worse_than_randomisation") == [0.0]


@pytest.mark.parametrize(("n_patients", "expected"), [(1, 1), (9, 1), (57, 5), (1000, 100), (10_000, 100)])
def test_the_last_recommendations_are_a_tenth_and_at_most_100(n_patients: int, expected: int) -> None:
    assert n_last(n_patients) == expected


@pytest.mark.parametrize("population", POPULATIONS[:2], ids=["two arms", "three arms"])
def test_surplus_and_regret_add_up_to_what_can_be_gained(population: Population) -> None:
    result = simulate(POLICIES, population, n_patients=90, n_runs=400, seed=3)
    means = population.mean_given_chosen()
    for outcome in result.outcomes:
        along = outcome.trajectory("surplus")
        gain = along.t * (means.max() - means.mean())
        np.testing.assert_allclose(along.mean + outcome.trajectory("regret").mean, gain, rtol=1e-12)
        # Given the number of patients, regret is a constant minus the surplus, so both spread alike.
        np.testing.assert_allclose(along.se, outcome.trajectory("regret").se, rtol=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("population", POPULATIONS, ids=["two arms", "three arms", "random prior"])
def test_realised_surplus_is_unbiased_for_the_expected(population: Population, policy: str) -> None:
    """Their difference, run by run, is a sum of martingale differences."""
    n_runs = 5000
    left = tallies_of(policy, population, n_patients=60, n_runs=n_runs, seed=4, grid=np.array([60]))
    surplus, realised, _, _ = measures(left, population.tables(4, 0, n_runs).means)
    gap = (realised - surplus)[:, 0]
    assert abs(gap.mean()) < LARGEST_Z * gap.std(ddof=1) / math.sqrt(n_runs)


@pytest.mark.parametrize("population", POPULATIONS, ids=["two arms", "three arms", "random prior"])
def test_uniform_allocation_has_no_surplus(population: Population) -> None:
    outcome = simulate("uniform", population, n_patients=100, n_runs=5000, seed=5)[0]
    for estimate in (outcome.surplus, outcome.realised_surplus):
        assert estimate.se is not None
        assert abs(estimate.mean) < LARGEST_Z * estimate.se
    for share in outcome.allocation.values():
        assert share.se is not None
        assert abs(share.mean - 1 / population.n_arms) < LARGEST_Z * share.se


def test_paired_differences_are_more_precise_than_unpaired_ones() -> None:
    """Rewards, because all policies meet the same patients, and most of their spread is the patients'."""
    result = simulate(["thompson", "ucb1"], POPULATIONS[1], n_patients=200, n_runs=3000, seed=6)
    paired = result[1].difference("reward")
    unpaired = math.hypot(result[0].reward.se or 0.0, result[1].reward.se or 0.0)
    assert paired.mean == pytest.approx(result[1].reward.mean - result[0].reward.mean)
    assert paired.se is not None
    assert paired.se < 0.95 * unpaired


def test_a_policy_does_not_differ_from_itself_under_another_name() -> None:
    result = simulate(["thompson", "base-thompson"], "defiers", n_patients=50, n_runs=20)
    difference = result[1].difference()
    assert (difference.mean, difference.se) == (0.0, 0.0)


def test_one_run_has_no_standard_errors() -> None:
    outcome = simulate("thompson", "stroke-heparin", n_patients=50, n_runs=1)[0]
    estimates = [outcome.surplus, outcome.regret, outcome.difference(), *outcome.allocation.values()]
    estimates += [outcome.worse_than_randomisation, outcome.favours_best_arm]
    assert {(one.se, one.low, one.high) for one in estimates} == {(None, None, None)}
    assert outcome.to_json()["surplus"]["se"] is None


def test_allocation_and_deciders_are_shares() -> None:
    outcome = simulate("thompson-bounded(hierarchical(epsilon-greedy))", "stroke-heparin", 200, 50)[0]
    assert sum(share.mean for share in outcome.allocation.values()) == pytest.approx(1.0)
    assert sum(share.mean for share in outcome.experts.values()) == pytest.approx(1.0)
    assert list(outcome.experts) == [
        "thompson (certified)", "epsilon-greedy", "epsilon-greedy/actual", "epsilon-greedy/comply"
    ]  # fmt: skip


def test_quantiles_are_those_of_the_final_surplus() -> None:
    population, n_runs = POPULATIONS[1], 3000
    outcome = simulate("thompson", population, 100, n_runs, seed=7)[0]
    left = tallies_of("thompson", population, 100, n_runs, seed=7, grid=np.array([100]))
    surplus = measures(left, population.tables(7, 0, 1).means)[0][:, 0]
    for q in (0.05, 0.5, 0.95):
        exact = float(np.quantile(surplus, q, method="lower"))
        assert outcome.quantile(q) == pytest.approx(exact, rel=0.0051)
    assert outcome.worse_than_randomisation.mean == pytest.approx((surplus < 0).mean())
    assert outcome.surplus.mean == pytest.approx(surplus.mean())
