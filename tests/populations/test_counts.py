from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.errors import InputError
from adhere.populations import Count, Counts

from .strategies import counts_populations

ARMS = ("none", "aspirin")
ROWS = [
    Count("none", "none", 1.0, 6),
    Count("none", "none", 0.0, 2),
    Count("none", "aspirin", 0.5, 2),
    Count("aspirin", "aspirin", 0.25, 5),
]


def test_by_hand() -> None:
    population = Counts("by hand", ARMS, ROWS)
    assert population.reward_values == (0.0, 0.25, 0.5, 1.0)
    assert population.patients_per_arm() == {"none": 10, "aspirin": 5}
    np.testing.assert_allclose(population.compliance(), [[0.8, 0.2], [0.0, 1.0]])
    np.testing.assert_allclose(population.mean_given_chosen(), [0.7, 0.25])
    np.testing.assert_allclose(population.mean_given_both(), [[0.75, 0.5], [np.nan, 0.25]])
    # Uniform over arms, however many patients each arm had.
    np.testing.assert_allclose(population.mean_given_actual(), [0.75, (0.2 * 0.5 + 0.25) / 1.2])
    np.testing.assert_allclose(population.mean_given_actual([0, 1]), [np.nan, 0.25])


def test_cells_of_an_arm_are_its_own_rows() -> None:
    tables = Counts("by hand", ARMS, ROWS).tables(0, 0, 1)
    np.testing.assert_array_equal(tables.cumulative, [[[0.2, 0.8, 2, 2], [2, 2, 2, 2]]])
    np.testing.assert_array_equal(tables.actual[:, :3], [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(tables.reward[:, :3], [[0, 1, 0.5], [0.25, 0, 0]])


def test_arms_are_drawn_independently() -> None:
    coin = [Count(arm, arm, reward) for arm in ARMS for reward in (0.0, 1.0)]
    reward = Counts("coins", ARMS, coin).patients(0, 0, 20_000).reward
    agree = (reward[:, 0] == reward[:, 1]).mean()
    assert abs(agree - 0.5) < 4.5 * np.sqrt(0.25 / 20_000)


@settings(deadline=None)
@given(counts_populations(), st.randoms(use_true_random=False))
def test_records_in_any_order_make_the_same_population(population: Counts, random: Any) -> None:
    records = [Count(*row[:3]) for row in population.counts for _ in range(row.patients)]
    random.shuffle(records)
    records.append(Count(population.arms[0], population.arms[1], 0.123, 0))
    assert Counts("random counts", population.arms, records) == population


def test_rewards_may_say_success_or_failure() -> None:
    said: list[Any] = [("none", "none", True, 2), ("aspirin", "aspirin", np.False_)]
    assert Counts("t", ARMS, said).counts == (Count("none", "none", 1.0, 2), Count("aspirin", "aspirin", 0.0))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("none", "none", 1.5, 1), "counts, row 5, reward: got 1.5, expected a number from 0 to 1"),
        (("none", "none", float("nan"), 1), "counts, row 5, reward: got nan"),
        (("none", "none", 1, -2), "counts, row 5, count: got -2, expected a whole number from 0"),
        (("none", "none", 1, 0.5), "counts, row 5, count: got 0.5"),
        (("none", "none", 1, float("inf")), "counts, row 5, count: got inf"),
        (
            ("none", "asprin", 1, 1),
            "counts, row 5, actual: got 'asprin', expected one of none, aspirin (did you",
        ),
        ((0, "none", 1, 1), "counts, row 5, chosen: got 0"),
        (("none", "none"), "counts, row 5: got ('none', 'none'), expected chosen, actual, reward"),
        ("none", "counts, row 5: got 'none'"),
        (("none", "none", 1, 2**53), "counts of arm 'none': got"),
    ],
)
def test_bad_rows(row: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Counts("bad", ARMS, [*ROWS, row])
    assert message in str(caught.value)


def test_an_arm_without_patients() -> None:
    with pytest.raises(InputError, match="counts: got 'aspirin', expected at least one patient"):
        Counts("bad", ARMS, [*ROWS[:3], Count("aspirin", "aspirin", 1.0, 0)])
