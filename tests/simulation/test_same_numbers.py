"""The same seed gives the same numbers to the bit, whoever computes them and in whatever company."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adhere import SimulationResult, simulate
from adhere.populations import Population, as_population, uniform_corrective
from adhere.randomness import POPULATION, stream_keys, uniforms
from adhere.simulation import Outcome
from adhere.simulation.measures.measure import MEASURES

from .engine import arms_of, tallies_of
from .mixed_populations import THREE_ARMS, TWO_ARMS, engine_population

POLICIES = ["thompson", "hierarchical(exp3)", "thompson-bounded(hierarchical(epsilon-greedy))"]
POPULATIONS = ["stroke-heparin", "uniform-other", "rich-and-poor"]


def same(one: Outcome, other: Outcome) -> bool:
    """Equal to the bit, differences from the reference included."""
    return (
        one.resolved == other.resolved
        and one.population == other.population
        and np.array_equal(one.moments.mean, other.moments.mean)
        and np.array_equal(one.moments.deviations, other.moments.deviations)
        and np.array_equal(one.sketch.counts, other.sketch.counts)
    )


def run(
    policies: Sequence[str],
    populations: Sequence[str] = POPULATIONS,
    *,
    reference: str | None = None,
    n_threads: int | None = None,
) -> SimulationResult:
    # Three blocks of 1024 runs, the last of them short.
    return simulate(policies, populations, 50, 2500, seed=9, reference=reference, n_threads=n_threads)


@pytest.fixture(scope="module")
def by_one_thread() -> SimulationResult:
    return run(POLICIES, n_threads=1)


@pytest.mark.parametrize("n_threads", [2, 3, None])
def test_the_number_of_threads_does_not_matter(by_one_thread: SimulationResult, n_threads: int | None) -> None:
    again = run(POLICIES, n_threads=n_threads)
    assert all(map(same, by_one_thread.outcomes, again.outcomes))


def test_runs_after_the_first_blocks_are_others(by_one_thread: SimulationResult) -> None:
    """A block that started again at run 0 would have the very means of the first."""
    part = simulate(POLICIES, POPULATIONS, 50, 1024, seed=9)
    assert not any(map(same, by_one_thread.outcomes, part.outcomes))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_company_does_not_matter(by_one_thread: SimulationResult, policy: str) -> None:
    alone = run([policy], ["stroke-heparin"])
    among = run([*reversed(POLICIES), "uniform"], list(reversed(POPULATIONS)), reference=policy)
    assert same(alone[0], among["stroke-heparin", policy])
    for measure in MEASURES:
        theirs = by_one_thread["stroke-heparin", policy].trajectory(measure)
        np.testing.assert_array_equal(alone[0].trajectory(measure).mean, theirs.mean)
        np.testing.assert_array_equal(alone[0].trajectory(measure).se, theirs.se)


def test_the_grid_does_not_matter() -> None:
    coarse, fine = (simulate("thompson", "defiers", 40, 300, seed=2, grid=grid)[0] for grid in (1, [7, 13, 40]))
    assert coarse.surplus == fine.surplus
    assert coarse.reward == fine.reward
    assert fine.trajectory().t.tolist() == [7, 13, 40]


def test_the_first_patients_of_a_longer_trial_are_the_same() -> None:
    """EXP3 with γ left open looks at the length of the trial; other policies do not."""
    short = simulate("thompson", "stroke-aspirin", 30, 400, seed=3, grid=[30])[0].trajectory()
    long = simulate("thompson", "stroke-aspirin", 90, 400, seed=3, grid=[30, 90])[0].trajectory()
    assert short.mean[0] == pytest.approx(long.mean[0], rel=1e-12)


def test_another_seed_gives_other_numbers() -> None:
    one, other = (simulate("thompson", "stroke-aspirin", 50, 100, seed=seed)[0] for seed in (0, 1))
    assert one.reward.mean != other.reward.mean


@pytest.mark.parametrize(
    "population", [engine_population(TWO_ARMS), engine_population(THREE_ARMS), *map(as_population, POPULATIONS)]
)
def test_every_policy_meets_the_patients_of_the_population(population: Population) -> None:
    """Rewards and baselines of a run are those of `Population.patients` for the arms chosen."""
    n_patients, n_runs, seed = 120, 4, 12
    for policy in POLICIES:
        arms = arms_of(policy, population, n_patients, n_runs, seed)
        left = tallies_of(policy, population, n_patients, n_runs, seed, np.array([n_patients]))
        for run in range(n_runs):
            patients = population.patients(seed, run, n_patients)
            reward = patients.reward[np.arange(n_patients), arms[run]].sum()
            assert left.rewards[run, 0] == pytest.approx(reward, abs=1e-9)
            assert left.baselines[run, 0] == pytest.approx(patients.reward.mean(axis=1).sum(), abs=1e-9)


def test_a_random_prior_draws_a_population_for_each_run() -> None:
    prior, n_runs, seed = uniform_corrective(), 2000, 5
    means = prior.tables(seed, 0, n_runs).means
    assert len(np.unique(means, axis=0)) == n_runs
    # Arms pulled by Uniform earn what this run's own population promises them.
    left = tallies_of("uniform", prior, 60, n_runs, seed, np.array([60]))
    expected = (left.pulls[:, 0, :] * means).sum(axis=1)
    gap = left.rewards[:, 0] - expected
    assert abs(gap.mean()) < 3.7 * gap.std(ddof=1) / np.sqrt(n_runs)
    assert np.corrcoef(left.rewards[:, 0], expected)[0, 1] > 0.9
    # The population is drawn from the run's own stream: run 7 alone is run 7 among others, and all of it follows from
    # four numbers. Who does not comply takes the better arm.
    np.testing.assert_array_equal(prior.tables(seed, 7, 1).means[0], means[7])
    drawn = [uniforms(stream_keys(seed, 7, 1), np.array([0]), POPULATION, draw)[0, 0] for draw in range(4)]
    rewards, complies = np.array(drawn[:2]), np.array(drawn[2:])
    np.testing.assert_allclose(means[7], complies * rewards + (1.0 - complies) * rewards.max(), rtol=1e-12)
