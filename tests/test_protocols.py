from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adhere import InputError, Protocol, Thompson
from adhere.protocols import ACTUAL, CHOSEN, COMPLY, as_protocol, credits_chosen, feedback_table
from policies.strategies import credit_tables


def test_whom_the_named_protocols_credit() -> None:
    assert CHOSEN.credits(3).tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]
    assert ACTUAL.credits(3).tolist() == [[0, 1, 2]] * 3
    assert COMPLY.credits(3).tolist() == [[0, -1, -1], [-1, 1, -1], [-1, -1, 2]]


def test_what_feedback_teaches_under_the_named_protocols() -> None:
    assert feedback_table(CHOSEN, 2)[:, :5].tolist() == [[0, 0, 0, -1, -1], [1, 1, 1, -1, -1]]
    assert feedback_table(ACTUAL, 2)[:, :5].tolist() == [[0, 1, -1, 0, 1], [0, 1, -1, 0, 1]]
    assert feedback_table(COMPLY, 2)[:, :5].tolist() == [[0, -1, -1, 0, -1], [-1, 1, -1, -1, 1]]


def test_a_row_that_needs_no_actual_arm_is_learned_at_once() -> None:
    table = as_protocol([[1, 1], [None, 1]])
    assert feedback_table(table, 2)[:, :5].tolist() == [[1, 1, 1, -1, -1], [-1, 1, -1, -1, 1]]
    nobody = as_protocol([[None, None], [0, 1]])
    assert set(feedback_table(nobody, 2)[0].tolist()) == {-1}


@settings(deadline=None)
@given(credit_tables())
def test_each_reward_is_learned_exactly_once_whenever_the_actual_arm_comes(protocol: Protocol) -> None:
    assert protocol.table is not None
    k = len(protocol.table)
    table = feedback_table(protocol, k)
    for chosen in range(k):
        for actual in range(k):
            together = [table[chosen, actual]]
            in_parts = [table[chosen, k], table[chosen, k + 1 + actual]]
            assert [arm for arm in together if arm >= 0] == [arm for arm in in_parts if arm >= 0]
        for with_reward, later in ((-2, 2 * k + 1), (-3, 2 * k + 2)):  # nothing was taken, or something else
            assert table[chosen, with_reward] == table[chosen, k]
            assert table[chosen, later] == -1


def test_chosen_by_table_is_chosen() -> None:
    assert credits_chosen(as_protocol([[0, 0], [1, 1]]), 2)
    assert credits_chosen(CHOSEN, 5)
    assert not credits_chosen(ACTUAL, 2)
    assert not credits_chosen(as_protocol([[0, 0], [1, None]]), 2)


@pytest.mark.parametrize("value", ["chosen", " Chosen ", CHOSEN])
def test_a_named_protocol_by_any_name(value: Any) -> None:
    assert as_protocol(value) == CHOSEN


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("itt", "protocol: got 'itt', expected one of chosen, actual, comply"),
        ("chosn", "did you mean 'chosen'"),
        (None, "protocol: got None, expected a protocol"),
        (3, "protocol: got 3, expected a protocol"),
        ([], "a square table of at least 2 × 2"),
        ([[0]], "a square table of at least 2 × 2"),
        ([[0, 1]], "a square table of at least 2 × 2"),
        ([[0, 1], "01"], "a square table of at least 2 × 2"),
        ([[0, 1], [1, 2]], "protocol: got 2, expected an arm number from 0 to 1, or none"),
        ([[0, 1], [1, -1]], "protocol: got -1, expected an arm number from 0 to 1, or none"),
        ([[0, 1], [1, True]], "protocol: got True, expected an arm number"),
        ([[0, 1], [1, 1.0]], "protocol: got 1.0, expected an arm number"),
    ],
)
def test_what_is_not_a_protocol_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Thompson(protocol=value)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Thompson(protocol=Protocol("itt")),
        lambda: Thompson(protocol=Protocol("credit", ((0, 7), (1, 1)))),
        lambda: Thompson(protocol=Protocol("chosen", ((0, 1), (1, 1)))),
        lambda: Thompson(protocol=Protocol("credit")),
    ],
)
def test_a_protocol_made_by_hand_is_checked_too(build: Any) -> None:
    """Compiled code does not look where it writes: an arm that is not there must not get so far."""
    with pytest.raises(InputError, match="protocol"):
        build()


def test_a_table_must_fit_the_number_of_arms() -> None:
    with pytest.raises(InputError, match="a table of 3 × 3 for 3 arms"):
        as_protocol([[0, 1], [1, 1]]).credits(3)


def test_tables_are_not_shared() -> None:
    first = feedback_table(COMPLY, 2)
    first[:] = 9
    assert not np.array_equal(first, feedback_table(COMPLY, 2))
