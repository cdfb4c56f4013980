from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import njit

from adhere import Thompson
from adhere.policies.generic import choose, largest_of, pick, put, share_among_largest
from adhere.policies.policy import TrialShape
from adhere.randomness import CHOOSE, point, stream


def test_the_largest_share_the_chance() -> None:
    values, out = np.array([0.2, 0.7, 0.7, -1.0]), np.empty(4)
    share_among_largest(values, out)
    assert out.tolist() == [0.0, 0.5, 0.5, 0.0]
    share_among_largest(values, values)
    assert values.tolist() == [0.0, 0.5, 0.5, 0.0]


def test_infinite_values_share_the_chance_too() -> None:
    values = np.array([math.inf, 3.0, math.inf, math.inf])
    share_among_largest(values, values)
    assert values == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_the_largest() -> None:
    assert largest_of(np.array([-3.0, -1.0, -2.0])) == -1.0


def test_python_runs_the_rules_too() -> None:
    assembled = Thompson().assemble(TrialShape(2))
    rng = stream(0, 0)
    point(rng, 0, CHOOSE)
    with np.errstate(over="ignore"):
        assert choose(assembled.rule, assembled.state, np.zeros(0), 1.0, rng) in (0, 1)


def test_what_is_no_rule_is_named() -> None:
    with pytest.raises(TypeError, match=r"choose is not implemented for \(1, 2\)"):
        choose((1, 2), np.zeros(1), np.zeros(0), 1.0, stream(0, 0))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
def test_entries_are_picked_and_put_wherever_they_are(n: int) -> None:
    @njit  # type: ignore[untyped-decorator]
    def both(values: Any, first: int, n: int, index: int) -> Any:
        put(values, first, n, index, 10.0 * pick(values, first, n, index))

    for index in range(n):
        values = np.arange(1.0, 20.0)
        both(values, 3, n, index)
        expected = np.arange(1.0, 20.0)
        expected[3 + index] *= 10.0
        assert values.tolist() == expected.tolist()
