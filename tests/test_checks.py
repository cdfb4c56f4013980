"""Checks of numbers, names and text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adhere.checks import (
    check_arms,
    check_count,
    check_integer,
    check_reward,
    check_text,
    check_unique,
    check_unit_number,
)
from adhere.errors import InputError


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1), -0.0])
def test_unit_numbers(value: object) -> None:
    number = check_unit_number("reward", value)
    assert type(number) is float
    assert math.copysign(1, number) == 1


@pytest.mark.parametrize("value", [True, "1", None, -0.1, 1.1, math.nan, math.inf, 10**400, [1]])
def test_what_is_no_unit_number(value: object) -> None:
    with pytest.raises(InputError, match="expected a number from 0 to 1"):
        check_unit_number("reward", value)


def test_rewards_may_say_success_or_failure() -> None:
    rewards = [check_reward("reward", value) for value in (True, False, np.True_, np.False_, 1, 0.5)]
    assert rewards == [1.0, 0.0, 1.0, 0.0, 1.0, 0.5]
    assert {type(reward) for reward in rewards} == {float}
    for value in ("1", "true", None, 1.1, math.nan, [True]):
        with pytest.raises(InputError, match=r"reward: got .*, expected a number from 0 to 1"):
            check_reward("reward", value)


def test_integers_and_counts() -> None:
    assert check_integer("n_runs", np.int64(3), 1, 3) == check_count("count", 3.0) == 3
    for value in (0, 4, True, 3.0, "3", None):
        with pytest.raises(InputError, match="a whole number from 1 to 3"):
            check_integer("n_runs", value, 1, 3)
    for value in (-1, 2**53 + 1, True, 0.5, math.nan, math.inf, "3"):
        with pytest.raises(InputError, match=r"a whole number from 0 to 2\*\*53"):
            check_count("count", value)


def test_names() -> None:
    assert check_arms(["a", "b"]) == ("a", "b")
    check_unique("names", [])
    for arms, expected in ((["a", "a"], "each name once"), ("ab", "at least two arms"), (["a", "\n"], "printable")):
        with pytest.raises(InputError, match=expected):
            check_arms(arms)


def test_text() -> None:
    assert check_text("subject", "e\u0301") == "\u00e9"
    for value in (1, "", " a", "a ", "a" * 201, "a\u0000", "a\u200b", "\ud800", "\ue000"):
        with pytest.raises(InputError, match="subject"):
            check_text("subject", value)
