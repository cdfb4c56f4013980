"""What was played, folded by population and measured, against plain computations from single runs."""

from __future__ import annotations

import numpy as np
import pytest

from adhere.policies import parse_policy
from adhere.populations import defiers, stroke_aspirin
from adhere.simulation import simulate
from adhere.simulation.execution.progress import Silent
from adhere.studies.arena.cells import Cell, MeanRewards, mean_rewards_of
from adhere.studies.arena.families import family
from adhere.studies.arena.measures import (
    by_unit,
    growth_of_worst,
    held_out_worst_mean,
    worse_than_random,
    worst_mean,
)
from adhere.studies.arena.play import Played, arena_grid, fold, play

N, T, RUNS = 10, 30, 3


@pytest.fixture(scope="module")
def confounded() -> tuple[MeanRewards, Played]:
    cell = Cell("confounded", T, RUNS, N)
    return cell.truth, play(parse_policy("thompson"), cell, 5, Silent(), n_threads=1)


def test_runs_are_folded_by_population(confounded: tuple[MeanRewards, Played]) -> None:
    truth, played = confounded
    result = simulate(
        "thompson", family("confounded", n_populations=N), T, N * RUNS, seed=5, keep_runs=True, progress=False
    )
    columns = result.runs.by_outcome[0].columns
    own = by_unit(played, truth)
    for unit in range(N):
        runs = [r for r in range(N * RUNS) if r % N == unit]
        surplus, regret = columns["surplus"][runs], columns["regret"][runs]
        best = truth.recommendation[unit].max() - truth.recommendation[unit].mean()
        assert own.surplus[unit] == pytest.approx(surplus.mean())
        assert own.share[unit] == pytest.approx(surplus.mean() / (T * best))
        assert own.half_shares[:, unit] == pytest.approx(
            [surplus[[0, 2]].mean() / (T * best), surplus[1] / (T * best)]
        )
        assert own.regret[unit, -1] == pytest.approx(regret.mean())
        assert played.spread[unit] == pytest.approx(np.std(surplus / T, ddof=1))
    assert played.grid.tolist() == arena_grid(T)
    assert (np.diff(own.regret, axis=1) > -1e-9).all()


def test_three_regrets(confounded: tuple[MeanRewards, Played]) -> None:
    truth, played = confounded
    own, unit = by_unit(played, truth), 4
    first, second = played.share[unit, -1]
    people = family("confounded", n_populations=N).people
    earned = first * truth.recommendation[unit, 0] + second * truth.recommendation[unit, 1]
    everybody = [(people.shares[unit] * people.rewards[unit, :, arm]).sum() for arm in range(2)]
    compliers = people.rewards[unit, 0]
    assert own.regret[unit, -1] / T == pytest.approx(truth.recommendation[unit].max() - earned)
    assert own.treatment_regret[unit] == pytest.approx(max(everybody) - earned)
    assert own.complier_regret[unit] == pytest.approx(compliers.max() - first * compliers[0] - second * compliers[1])


def test_a_single_population_is_played_in_groups_of_runs() -> None:
    truth = mean_rewards_of(defiers(), 4)
    assert (truth.n_populations, truth.n_units) == (1, 4)
    assert truth.treatment[0].tolist() == [0.0, 1.0]
    assert np.isnan(truth.compliers).all()  # there are none
    assert np.isnan(mean_rewards_of(stroke_aspirin()).treatment).all()  # nobody knows
    # Of four groups of two runs, [arm and point of the grid, run]: one point, and all but one run end with arm 1.
    allocations = np.array([[0.0] * 7 + [1.0], [1.0] * 7 + [0.0]])
    played = fold(allocations, truth, np.array([10]), 1.0, 0.0, 1)
    own = by_unit(played, truth)
    assert own.share.tolist() == [-1.0, -1.0, -1.0, 0.0]
    assert worse_than_random(played, truth, own.surplus) == (1.0, 1.0)


def test_surely_worse_than_randomisation_takes_runs() -> None:
    truth = MeanRewards(3, *[np.array([[0.0, 1.0]] * 3)] * 3)
    always_wrong, mostly_right, random = [1.0] * 8, [0.0] * 7 + [1.0], [0.0, 1.0] * 3 + [1.0, 1.0]
    first = np.array([always_wrong, mostly_right, random]).T.ravel()  # run r plays population r mod 3
    played = fold(np.stack([first, 1 - first]), truth, np.array([10]), 1.0, 0.0, 1)
    negative, surely = worse_than_random(played, truth, by_unit(played, truth).surplus)
    assert negative == pytest.approx(2 / 3)
    assert surely == pytest.approx(1 / 3)
    few = fold(np.stack([first, 1 - first])[:, :6], truth, np.array([10]), 1.0, 0.0, 1)
    assert worse_than_random(few, truth, by_unit(few, truth).surplus)[1] is None


def test_the_worst_populations() -> None:
    differences = np.concatenate([np.full(190, 0.1), np.linspace(-0.2, -0.1, 10)])
    assert worst_mean(differences) == pytest.approx(-0.15)
    # Bad luck is not held out: what was worst in one half of the runs is like any other in the other half.
    luck = np.random.default_rng(0).normal(size=(2, 2000))
    assert worst_mean(luck.mean(axis=0)) < -1
    assert held_out_worst_mean(luck) == pytest.approx(0, abs=0.2)
    assert held_out_worst_mean(luck + np.where(np.arange(2000) < 100, -9, 0)) == pytest.approx(-9, abs=0.2)
    assert held_out_worst_mean(luck[:1]) is None


def test_growth_of_regret_in_the_worst_populations() -> None:
    grid = np.array([1.0, 10.0, 100.0])
    linear, root, few = grid * 0.5, np.sqrt(grid), np.log1p(grid)
    regrets = np.stack([np.stack([linear, *[few] * 19])] * 2)
    assert growth_of_worst(regrets, grid) == pytest.approx(1)
    assert growth_of_worst(np.stack([np.stack([root, *[few] * 19])] * 2), grid) == pytest.approx(0.5)
    assert growth_of_worst(regrets[:1], grid) is None
    assert growth_of_worst(regrets[:, :, [0, 2]], grid[[0, 2]]) is None
