from __future__ import annotations

import numpy as np
import pytest

from adhere.errors import InputError
from adhere.populations import corrective, defiers, homogeneous, rich_and_poor


def test_example_1() -> None:
    population = defiers()
    np.testing.assert_array_equal(population.compliance(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(population.mean_given_chosen(), [1, 0])
    np.testing.assert_array_equal(population.mean_given_actual([0.2, 0.8]), [0, 1])
    assert np.isnan(np.diag(population.mean_given_both())).all()
    assert population.reward_values == (0.0, 1.0)
    np.testing.assert_array_equal(population.patients(0, 0, 4).reward, [[1, 0]] * 4)


def test_example_2() -> None:
    population = rich_and_poor()
    # Half are rich and have 0.75 whatever is chosen; the poor have 0.5 without and 0.25 with the treatment.
    np.testing.assert_array_equal(population.mean_given_chosen(), [0.375 + 0.25, 0.375 + 0.125])
    # Untreated are only the poor told so. Treated are all the rich, and the poor told so (a quarter of all).
    np.testing.assert_allclose(population.mean_given_actual(), [0.5, (0.5 * 0.75 + 0.25 * 0.25) / 0.75], rtol=1e-14)
    # Comply is exactly indifferent.
    np.testing.assert_array_equal(population.mean_given_both(), [[0.5, 0.75], [np.nan, 0.5]])
    # Actual prefers the harmful treatment whenever any poor patient is left untreated.
    for q in (0.01, 0.5, 0.99):
        untreated, treated = population.mean_given_actual([1 - q, q])
        assert treated > untreated


def test_corrective_numbers_in_the_docstring() -> None:
    population = corrective()
    chosen = population.mean_given_chosen()
    np.testing.assert_allclose(chosen, [0.24 + 0.12 + 0.25, 0.24 + 0.12 + 0.30])
    actual, comply = population.mean_given_actual(), np.diag(population.mean_given_both())
    np.testing.assert_allclose(actual, [0.245 / 0.45, 0.39 / 0.55])
    np.testing.assert_allclose(comply, [0.37 / 0.7, 0.54 / 0.8])
    gaps = [round(float(np.diff(means)[0]), 3) for means in (chosen, actual, comply)]
    assert gaps == [0.05, 0.165, 0.146]
    for q in np.linspace(0, 1, 11):
        control, treatment = population.mean_given_actual([1 - q, q])
        assert treatment > control


@pytest.mark.parametrize("compliance", [0.0, 0.3, 0.5, 0.7, 1.0])
def test_homogeneous(compliance: float) -> None:
    population = homogeneous(compliance, (0.2, 0.9))
    p = compliance
    np.testing.assert_allclose(population.compliance(), [[p, 1 - p], [1 - p, p]], atol=1e-15)
    np.testing.assert_allclose(
        population.mean_given_chosen(), [p * 0.2 + (1 - p) * 0.9, (1 - p) * 0.2 + p * 0.9], atol=1e-15
    )
    np.testing.assert_allclose(population.mean_given_actual(), [0.2, 0.9])


def test_homogeneous_defaults() -> None:
    np.testing.assert_allclose(homogeneous().mean_given_chosen(), [0.35 + 0.18, 0.15 + 0.42])


@pytest.mark.parametrize(
    ("compliance", "rewards", "message"),
    [
        (1.2, (0.5, 0.6), "compliance: got 1.2"),
        (float("nan"), (0.5, 0.6), "compliance: got nan"),
        (0.7, (0.5, 1.6), "rewards of treatment: got 1.6"),
        (0.7, (0.5,), r"rewards: got \(0.5,\), expected two mean rewards"),
    ],
)
def test_bad_homogeneous(compliance: float, rewards: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        homogeneous(compliance, rewards)
