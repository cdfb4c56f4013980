from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import adhere.populations
from adhere.errors import InputError
from adhere.populations import (
    ComplianceType,
    ComplianceTypes,
    Count,
    Counts,
    PatientTables,
    Population,
    built_in_populations,
    homogeneous,
    rich_and_poor,
)
from adhere.populations.population import Floats
from adhere.randomness import PATIENT, point, stream, uniform

from .strategies import counts_populations, types_populations

ANY_POPULATION = st.one_of(types_populations(), counts_populations())


def probabilities(tables: PatientTables, run: int = 0) -> Floats:
    """P(cell) for each draw, back from the cumulative table."""
    capped = np.minimum(tables.cumulative[run], 1.0)
    return np.diff(capped, axis=-1, prepend=0.0)


def first_moments(tables: PatientTables, run: int = 0) -> tuple[Floats, Floats]:
    """P(actual | chosen) and E[R · 1(actual) | chosen], summed over the cells that the engine would draw."""
    cells, k = probabilities(tables, run), tables.actual.shape[0]
    compliance, mass = np.zeros((k, k)), np.zeros((k, k))
    for arm in range(k):
        chance = cells[arm if len(cells) == k else 0]
        np.add.at(compliance[arm], tables.actual[arm], chance)
        np.add.at(mass[arm], tables.actual[arm], chance * tables.reward[arm])
    return compliance, mass


@settings(deadline=None)
@given(ANY_POPULATION)
def test_tables_have_the_shape_the_engine_reads(population: Population) -> None:
    tables = population.tables(0, 0, 7)
    runs, draws, cells = tables.cumulative.shape
    k = population.n_arms
    assert runs == 1
    assert draws in (1, k)
    assert cells & (cells - 1) == 0
    assert tables.actual.shape == tables.reward.shape == (k, cells)
    assert tables.means.shape == (1, k)
    for array in (tables.cumulative, tables.actual, tables.reward, tables.means):
        assert array.flags.c_contiguous
        assert not array.flags.writeable
    assert tables.actual.dtype == np.int64
    assert {tables.cumulative.dtype, tables.reward.dtype, tables.means.dtype} == {np.dtype(np.float64)}
    assert np.all(np.diff(tables.cumulative, axis=-1) >= 0)
    assert np.all(tables.cumulative[..., -1] == 2.0)


@settings(deadline=None)
@given(ANY_POPULATION)
def test_tables_draw_from_the_law_that_the_expectations_describe(population: Population) -> None:
    tables = population.tables(0, 0, 1)
    compliance, mass = first_moments(tables)
    np.testing.assert_allclose(compliance, population.compliance(), atol=1e-12)
    np.testing.assert_allclose(mass, population.reward_mass(), atol=1e-12)
    np.testing.assert_allclose(tables.means[0], population.mean_given_chosen(), atol=1e-12)
    cells, k = probabilities(tables), population.n_arms
    seen = {
        float(tables.reward[arm, cell])
        for arm in range(k)
        for cell in np.flatnonzero(cells[arm if len(cells) == k else 0] > 0)
    }
    assert population.reward_values == tuple(sorted(seen))


@settings(deadline=None)
@given(ANY_POPULATION, st.data())
def test_expectations_agree_with_each_other(population: Population, data: st.DataObject) -> None:
    weights = data.draw(
        st.lists(st.integers(0, 5), min_size=population.n_arms, max_size=population.n_arms).filter(any)
    )
    allocation = np.array(weights) / sum(weights)
    both, compliance = population.mean_given_both(allocation), population.compliance()
    joint = allocation[:, None] * compliance
    np.testing.assert_array_equal(np.isnan(both), joint == 0)
    given_chosen = (compliance * np.nan_to_num(both)).sum(axis=1)
    np.testing.assert_allclose(given_chosen[allocation > 0], population.mean_given_chosen()[allocation > 0])
    given_actual = population.mean_given_actual(allocation)
    taken = joint.sum(axis=0)
    np.testing.assert_array_equal(np.isnan(given_actual), taken == 0)
    np.testing.assert_allclose(
        given_actual[taken > 0], ((joint * np.nan_to_num(both)).sum(axis=0)[taken > 0] / taken[taken > 0])
    )


@njit  # type: ignore[untyped-decorator]
def meet(tables: Any, rng: Any, actual: Any, reward: Any) -> None:
    """Draw patients the way the engine is told to, one at a time in a compiled loop."""
    cumulative, taken, gained = tables
    n_draws, k = cumulative.shape[1], taken.shape[0]
    for t in range(actual.shape[0]):
        point(rng, t, PATIENT)
        for draw in range(n_draws):
            u, cell = uniform(rng), 0
            while u >= cumulative[0, draw, cell]:
                cell += 1
            for arm in range(k):
                if n_draws == 1 or arm == draw:
                    actual[t, arm], reward[t, arm] = taken[arm, cell], gained[arm, cell]


@settings(deadline=None)
@given(ANY_POPULATION, st.integers(0, 2**64 - 1), st.integers(0, 10**6))
def test_patients_are_those_the_engine_meets(population: Population, seed: int, run: int) -> None:
    patients, tables = population.patients(seed, run, 30), population.tables(seed, run, 1)
    actual, reward = np.empty_like(patients.actual), np.empty_like(patients.reward)
    meet((tables.cumulative, tables.actual, tables.reward), stream(seed, run), actual, reward)
    np.testing.assert_array_equal(patients.actual, actual)
    np.testing.assert_array_equal(patients.reward, reward)


@pytest.mark.parametrize("name", built_in_populations())
def test_frequencies_match_the_law(name: str) -> None:
    population = adhere.populations.as_population(name)
    n, k = 40_000, population.n_arms
    tables = population.tables(3, 11, 1)
    compliance, mass = first_moments(tables)
    patients = population.patients(3, 11, n)
    for arm in range(k):
        took = patients.actual[:, arm, None] == np.arange(k)
        error = np.sqrt(compliance[arm] * (1 - compliance[arm]) / n)
        np.testing.assert_array_less(np.abs(took.mean(axis=0) - compliance[arm]), 4.5 * error + 1e-12)
        gains = took * patients.reward[:, arm, None]
        spread = gains.std(axis=0) / np.sqrt(n)
        np.testing.assert_array_less(np.abs(gains.mean(axis=0) - mass[arm]), 4.5 * spread + 1e-12)


def test_patients_of_two_runs_or_seeds_differ_and_repeat() -> None:
    population = homogeneous()
    first = population.patients(1, 2, 200)
    np.testing.assert_array_equal(first.reward, population.patients(1, 2, 200).reward)
    np.testing.assert_array_equal(first.reward[:50], population.patients(1, 2, 50).reward)
    assert not np.array_equal(first.reward, population.patients(1, 3, 200).reward)
    assert not np.array_equal(first.reward, population.patients(2, 2, 200).reward)


@pytest.mark.parametrize("name", built_in_populations())
def test_pickle_and_equality(name: str) -> None:
    population = adhere.populations.as_population(name)
    again = pickle.loads(pickle.dumps(population))
    assert again == population
    assert hash(again) == hash(population)
    np.testing.assert_array_equal(again.patients(5, 6, 20).actual, population.patients(5, 6, 20).actual)


def test_last_cell_catches_every_uniform_even_when_probabilities_round_below_one() -> None:
    tables = PatientTables.from_weights(
        np.array([[[0.1] * 10 + [0.0]]]), np.zeros((2, 11), int), np.zeros((2, 11)), np.zeros((1, 2))
    )
    assert tables.cumulative.shape == (1, 1, 16)
    assert tables.cumulative[0, 0, 8] < 1
    assert np.all(tables.cumulative[0, 0, 9:] == 2.0)  # the empty eleventh cell is never drawn


def test_a_uniform_on_the_boundary_lands_in_the_next_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def fixed(keys: Any, decisions: Any, purpose: Any, draw: int) -> Floats:
        return np.array([[0.0, 0.25, np.nextafter(0.25, 0), np.nextafter(1, 0)]])

    # The module is shadowed in its package by the function of the same name.
    monkeypatch.setattr(sys.modules[Population.__module__], "uniforms", fixed)
    rows = [Count("a", "a", 0.0, 1), Count("a", "b", 1.0, 3), Count("b", "b", 1.0, 1)]
    np.testing.assert_array_equal(Counts("quarter", ("a", "b"), rows).patients(0, 0, 4).actual[:, 0], [0, 1, 0, 1])


def test_populations_are_immutable() -> None:
    population = rich_and_poor()
    with pytest.raises(AttributeError):
        population.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        population.patients(0, 0, 3).reward[0, 0] = 1


@pytest.mark.parametrize(
    ("allocation", "message"),
    [
        ([0.5, 0.4], "allocation: got [0.5, 0.4], expected probabilities that sum to one, not to 0.9"),
        ([1.0], "allocation: got [1.0], expected 2 probabilities, one per arm"),
        ([float("nan"), 1.0], "allocation of arm 0: got nan"),
        ([1.5, -0.5], "allocation of arm 0: got 1.5"),
        (0.5, "allocation: got 0.5, expected 2 probabilities"),
    ],
)
def test_bad_allocation(allocation: list[float], message: str) -> None:
    with pytest.raises(InputError) as caught:
        rich_and_poor().mean_given_actual(allocation)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((-1, 0, 5), "seed: got -1"), ((0, -1, 5), "run: got -1"), ((0, 0, 0), "n_patients: got 0")],
)
def test_bad_patients(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rich_and_poor().patients(*arguments)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (("only",), "arms: got ('only',), expected at least two arms"),
        ((), "arms: got (), expected at least two arms"),
        ("ab", "arms: got ('ab',), expected at least two arms"),
        (("a", " "), "arms: got ' ', expected names in printable text, none of them empty"),
        (("a", "b", "a"), "arms: got 'a', expected each name once, not 2 times"),
    ],
)
def test_bad_arms(arms: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Counts("x", arms, [Count("a", "a", 1.0)])
    assert message in str(caught.value)
    with pytest.raises(InputError) as caught:
        ComplianceTypes("x", arms, [ComplianceType("defier", 1.0, reward=(0, 1))])
    assert message in str(caught.value)
