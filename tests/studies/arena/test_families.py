"""Families of populations: the same every time, and what they say they are."""

from __future__ import annotations

import numpy as np
import pytest

from adhere.errors import InputError
from adhere.populations import uniform_other
from adhere.populations.population import Floats
from adhere.studies.arena.families import FAMILIES, MIN_BEST_SURPLUS, family
from adhere.studies.arena.people import People, responses

# The populations are published: a change of these is a change of every figure of the arena.
DIGESTS = {
    "unconfounded": "3b1efbd7c3af",
    "confounded": "6ab1e097d755",
    "mildly-confounded": "9628a7cde59d",
    "corrective": "8c85682e0fa3",
    "weak-compliance": "d6e593334b38",
    "strong-compliance": "d38cc3b3e795",
    "defiers-present": "36e2a9c8bf99",
    "unconfounded-3": "83e763fd3bae",
    "confounded-3": "f70559a030dc",
    "unconfounded-5": "34b861d45246",
    "confounded-5": "de89f052c232",
    "uniform-other": "7f818b93e867",
}


def test_everybody_has_the_same_populations() -> None:
    assert {name: family(name).digest() for name in FAMILIES} == DIGESTS


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_made_of_populations(name: str) -> None:
    one = family(name)
    people, cells = one.people, one.people.cells()
    assert one.n_populations >= 200
    assert cells.shape == (one.n_populations, one.n_arms, one.n_arms, 2)
    for shares in (people.shares, people.behaviours, cells.reshape(len(cells), one.n_arms, -1)):
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


def test_mildly_confounded_groups_share_the_effect() -> None:
    rewards = family("mildly-confounded").people.rewards
    effects = rewards[:, :, 1] - rewards[:, :, 0]
    assert np.ptp(effects, axis=1).max() < 1e-12
    assert np.ptp(rewards[:, :, 0], axis=1).min() > 0


@pytest.mark.parametrize(("name", "low", "high"), [("weak-compliance", 0.1, 0.3), ("strong-compliance", 0.8, 0.95)])
def test_compliance_is_within_its_bounds(name: str, low: float, high: float) -> None:
    people = family(name).people
    compliers = (people.shares * people.behaviours[:, :, 0]).sum(axis=1)
    assert low <= compliers.min()
    assert compliers.max() <= high
    assert (people.behaviours[:, :, -1] == 0).all()  # the rest do not listen: no defiers


def test_defiers_are_present_where_they_should_be() -> None:
    assert (family("defiers-present").people.behaviours[:, :, -1] >= 0.1).all()
    assert (family("confounded").people.behaviours[:, :, -1] == 0).all()


def test_corrective_people_tend_to_take_what_helps_them() -> None:
    people = family("corrective").people
    gains_more = people.rewards[:, :, 1] > people.rewards[:, :, 0]
    always_first, always_second = people.behaviours[:, :, 1], people.behaviours[:, :, 2]
    assert ((always_second > always_first) == gains_more).all()


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


def test_what_is_true_of_people_is_computed_from_their_groups() -> None:
    """Half always take arm 1 (0.9 or 0.4), half of the others comply and half defy (0.2 or 0.6)."""
    people = People(
        np.array([[0.5, 0.5]]),
        np.array([[[0.0, 0.0, 1.0, 0.0], [0.5, 0.0, 0.0, 0.5]]]),
        np.array([[[0.9, 0.4], [0.2, 0.6]]]),
    )
    assert responses(3).tolist() == [[0, 1, 2], [0, 0, 0], [1, 1, 1], [2, 2, 2], [1, 2, 0]]
    assert np.allclose(people.recommendation_means(), [[0.2 + 0.2, 0.2 + 0.2]])
    assert np.allclose(people.treatment_means(), [[0.55, 0.5]])
    assert np.allclose(people.complier_means(), [[0.2, 0.6]])
    assert np.allclose(people.cells()[0, 0], [[0.25 * 0.8, 0.25 * 0.2], [0.5 * 0.6 + 0.25 * 0.4, 0.2 + 0.15]])


def test_a_family_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'confounded'"):
        family("confoundet")
    with pytest.raises(InputError, match="n_populations"):
        family("confounded", n_populations=0)
