from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from adhere.errors import InputError
from adhere.populations import uniform_any, uniform_corrective, uniform_other
from adhere.populations.priors import RandomPrior
from adhere.randomness import POPULATION, stream_keys, uniforms

from .test_population import first_moments

PRIORS = {prior.name: prior for prior in (uniform_other(), uniform_any(), uniform_corrective())}
each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS.keys())


@each_prior
def test_runs_do_not_depend_on_how_they_are_chunked(prior: RandomPrior) -> None:
    whole, part = prior.tables(5, 0, 10), prior.tables(5, 7, 2)
    np.testing.assert_array_equal(whole.cumulative[7:9], part.cumulative)
    np.testing.assert_array_equal(whole.means[7:9], part.means)
    assert whole.cumulative.shape == (10, 1, 16)
    assert not np.array_equal(whole.means, prior.tables(6, 0, 10).means)


@each_prior
def test_each_run_s_law_by_hand(prior: RandomPrior) -> None:
    keys = stream_keys(9, 3, 4)
    draws = [uniforms(keys, np.array([0]), POPULATION, draw)[:, 0] for draw in range(4)]
    tables = prior.tables(9, 3, 4)
    for run, (r0, r1, p0, p1) in enumerate(zip(*draws, strict=True)):
        better = int(r1 > r0)
        compliance = {
            "uniform-other": [[p0, 1 - p0], [1 - p1, p1]],
            "uniform-any": [[(1 + p0) / 2, (1 - p0) / 2], [(1 - p1) / 2, (1 + p1) / 2]],
            "uniform-corrective": [[p0, 1 - p0] if better else [1, 0], [0, 1] if better else [1 - p1, p1]],
        }[prior.name]
        found, mass = first_moments(tables, run)
        np.testing.assert_allclose(found, compliance, atol=1e-12)
        np.testing.assert_allclose(mass, np.array(compliance) * [r0, r1], atol=1e-12)
        np.testing.assert_allclose(tables.means[run], np.array(compliance) @ [r0, r1], atol=1e-12)


@each_prior
def test_closed_forms_are_averages_over_the_prior(prior: RandomPrior) -> None:
    n = 20_000
    tables = prior.tables(0, 0, n)
    np.testing.assert_array_less(
        np.abs(tables.means.mean(axis=0) - prior.mean_given_chosen()),
        4.5 * tables.means.std(axis=0) / np.sqrt(n),
    )
    cells = np.diff(np.minimum(tables.cumulative[:, 0], 1), axis=1, prepend=0)
    for chosen in range(2):
        for actual in range(2):
            took = tables.actual[chosen] == actual
            for closed, per_run in (
                (prior.compliance(), cells @ took),
                (prior.reward_mass(), cells @ (took * tables.reward[chosen])),
            ):
                error = 4.5 * per_run.std() / np.sqrt(n)
                assert abs(per_run.mean() - closed[chosen, actual]) < error


def test_closed_forms_by_hand() -> None:
    np.testing.assert_allclose(uniform_other().mean_given_chosen(), [0.5, 0.5])
    np.testing.assert_allclose(uniform_any().mean_given_actual([0.3, 0.7]), [0.5, 0.5])
    # Half comply and have 1/2 on average, half take the better of two uniform means and have 2/3.
    np.testing.assert_allclose(uniform_corrective().mean_given_chosen(), [7 / 12, 7 / 12])
    np.testing.assert_allclose(uniform_corrective().mean_given_both(), [[5 / 9, 2 / 3], [2 / 3, 5 / 9]])


def test_compliance_and_rewards_are_uniform_and_independent() -> None:
    tables = uniform_other().tables(0, 0, 5000)
    cells = np.diff(np.minimum(tables.cumulative[:, 0], 1), axis=1, prepend=0)
    complies = np.stack([cells @ (tables.actual[arm] == arm) for arm in range(2)])
    # With "other", E[R | c] = p_c r_c + (1 − p_c) r_other: solve for the two mean rewards of each run.
    p0, p1 = complies
    mixing = np.stack([np.stack([p0, 1 - p0], 1), np.stack([1 - p1, p1], 1)], 1)
    solvable = np.abs(p0 + p1 - 1) > 0.01
    rewards = np.full((2, 5000), np.nan)
    rewards[:, solvable] = np.linalg.solve(mixing[solvable], tables.means[solvable, :, None])[:, :, 0].T
    for sample in (*complies, *rewards[:, solvable]):
        assert stats.kstest(sample, "uniform").pvalue > 1e-4
    correlations = np.corrcoef(np.vstack([complies, rewards])[:, solvable])
    assert np.abs(correlations - np.eye(4)).max() < 4.5 / np.sqrt(solvable.sum())


def test_bad_priors() -> None:
    unknown: Any = "beter"
    with pytest.raises(InputError, match=r"instead: got 'beter', .* \(did you mean 'better'\?\)"):
        RandomPrior("x", ("a", "b"), unknown)
    with pytest.raises(InputError, match=r"arms: .* expected two arms"):
        RandomPrior("x", ("a", "b", "c"), "any")
    with pytest.raises(InputError, match="seed: got -1"):
        uniform_any().tables(-1, 0, 1)
