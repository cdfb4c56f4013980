"""Families of populations: the same every time, and what they say they are."""

from __future__ import annotations

import numpy as np
import pytest

from adhere.errors import InputError
from adhere.populations import uniform_other
from adhere.populations.population import Floats
from adhere.studies.arena.families import FAMILIES, MIN_BEST_SURPLUS, family
from adhere.studies.arena.recipes import People, responses

# The populations are published: a change of these is a change of every figure of the arena.
DIGESTS = {
    "unconfounded": "417e7703d45a",
    "confounded": "6b3fc254d6a1",
    "mildly-confounded": "5eae8fa1d3cb",
    "corrective": "02465af7afa2",
    "weak-compliance": "2358da4bb0ca",
    "strong-compliance": "74735221d473",
    "defiers-present": "119e4883f4a1",
    "unconfounded-3": "8cf4a2d27488",
    "confounded-3": "0644107e7a33",
    "unconfounded-5": "2569aec8fcf3",
    "confounded-5": "f026c4116230",
    "uniform-other": "7f818b93e867",
}


def test_everybody_has_the_same_populations() -> None:
    assert {name: family(name).digest for name in FAMILIES} == DIGESTS


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_made_of_populations(name: str) -> None:
    one = family(name)
    people, cells = one.people, one.people.cells()
    assert one.n_populations >= 200
    assert cells.shape == (one.n_populations, one.n_arms, one.n_arms, 2)
    for shares in (people.shares, cells.reshape(len(cells), one.n_arms, -1)):
        assert (shares >= 0).all()
        assert np.allclose(shares.sum(axis=-1), 1)
    assert ((people.rewards >= 0) & (people.rewards <= 1)).all()
    assert (people.best_surplus() >= FAMILIES[name].min_best_surplus).all()
    assert FAMILIES[name].min_best_surplus == (0 if name == "uniform-other" else MIN_BEST_SURPLUS)


def test_a_smaller_family_is_the_beginning_of_a_larger_one() -> None:
    few = family("confounded", n_populations=5).people.cells()
    assert np.array_equal(few, family("confounded").people.cells()[:5])


def test_families_of_one_seed_have_nothing_in_common() -> None:
    confounded, weak = (family(name).people.rewards for name in ("confounded", "weak-compliance"))
    assert abs(np.corrcoef(confounded.ravel(), weak.ravel())[0, 1]) < 0.1


@pytest.mark.parametrize("name", ["unconfounded", "unconfounded-3", "unconfounded-5", "uniform-other"])
def test_unconfounded_rewards_depend_on_the_arm_taken_alone(name: str) -> None:
    assert _spread_over_recommendations(name).max() < 1e-9


@pytest.mark.parametrize("name", ["confounded", "confounded-3", "mildly-confounded", "corrective", "defiers-present"])
def test_confounded_rewards_do_not(name: str) -> None:
    assert np.median(_spread_over_recommendations(name)) > 0.02


def _spread_over_recommendations(name: str) -> Floats:
    """The largest difference of E[R | chosen c, actual a] over c, by population."""
    cells = family(name).people.cells()
    taken = cells.sum(axis=3)
    given_both = np.where(taken > 1e-6, cells[..., 1] / np.maximum(taken, 1e-300), np.nan)
    spread: Floats = np.nanmax(np.nanmax(given_both, axis=1) - np.nanmin(given_both, axis=1), axis=1)
    return spread


def test_mildly_confounded_compliance_types_share_the_effect() -> None:
    rewards = family("mildly-confounded").people.rewards
    effects = rewards[:, :, 1] - rewards[:, :, 0]
    assert np.ptp(effects, axis=1).max() < 1e-12
    assert np.ptp(rewards[:, :, 0], axis=1).min() > 0


@pytest.mark.parametrize(("name", "low", "high"), [("weak-compliance", 0.1, 0.3), ("strong-compliance", 0.8, 0.95)])
def test_compliance_is_within_its_bounds(name: str, low: float, high: float) -> None:
    shares = family(name).people.shares
    assert low <= shares[:, 0].min() <= shares[:, 0].max() <= high
    assert (shares[:, -1] == 0).all()  # the rest do not listen: no defiers


def test_defiers_are_present_where_they_should_be() -> None:
    assert (family("defiers-present").people.shares[:, -1] >= 0.1).all()
    assert (family("confounded").people.shares[:, -1] == 0).all()


def test_corrective_people_take_what_helps_them_most() -> None:
    rewards = family("corrective").people.rewards
    for arm in range(2):
        assert (rewards[:, arm + 1].argmax(axis=1) == arm).all()
    ordinary = family("confounded").people.rewards
    assert 0.3 < (ordinary[:, 1].argmax(axis=1) == 0).mean() < 0.7


def test_what_people_took_misleads_in_part_of_the_confounded_populations() -> None:
    """As-treated means would prefer a wrong arm there: otherwise nothing would be at stake."""
    for name in ("confounded", "mildly-confounded", "weak-compliance", "confounded-3", "confounded-5"):
        cells = family(name).people.cells()
        as_treated = cells[..., 1].mean(axis=1) / cells.sum(axis=3).mean(axis=1)
        best = cells[..., 1].sum(axis=2).argmax(axis=1)
        assert 0.1 < (as_treated.argmax(axis=1) != best).mean() < 0.5


def test_uniform_other_is_the_population_of_that_name() -> None:
    one, other = family("uniform-other"), uniform_other()
    assert np.allclose(one.compliance(), other.compliance(), atol=0.015)
    assert np.allclose(one.reward_mass(), other.reward_mass(), atol=0.015)


def test_run_r_plays_population_r_modulo_their_number() -> None:
    one = family("confounded-3", n_populations=4)
    tables, every = one.tables(99, 3, 6), one.people.tables()
    rows = [3, 0, 1, 2, 3, 0]
    assert np.array_equal(tables.cumulative, every.cumulative[rows])
    assert np.array_equal(tables.means, every.means[rows])
    assert np.array_equal(one.tables(1, 3, 6).means, tables.means)  # the simulation's seed does not matter


def test_what_is_true_of_people_is_computed_from_their_compliance_types() -> None:
    """A quarter comply, half always take the second arm, a quarter defy."""
    people = People(np.array([[0.25, 0.0, 0.5, 0.25]]), np.array([[[0.2, 0.6], [0.5, 0.5], [0.9, 0.4], [0.1, 0.7]]]))
    assert responses(3).tolist() == [[0, 1, 2], [0, 0, 0], [1, 1, 1], [2, 2, 2], [1, 2, 0]]
    assert np.allclose(
        people.recommendation_means(), [[0.25 * 0.2 + 0.2 + 0.25 * 0.7, 0.25 * 0.6 + 0.2 + 0.25 * 0.1]]
    )
    assert np.allclose(people.treatment_means(), [[0.05 + 0.45 + 0.025, 0.15 + 0.2 + 0.175]])
    assert np.allclose(people.complier_means(), [[0.2, 0.6]])
    assert np.allclose(people.cells()[0, 0], [[0.2, 0.05], [0.3 + 0.075, 0.2 + 0.175]])


def test_a_family_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'confounded'"):
        family("confoundet")
    with pytest.raises(InputError, match="n_populations"):
        family("confounded", n_populations=0)
