from __future__ import annotations

import math

import numpy as np
import pytest

from adhere import Thompson
from adhere.compilation import Memo, State, memo_of, state_of
from adhere.policies.base.generic import choose
from adhere.policies.base.policy import TrialShape
from adhere.policies.numerics.selection import largest_of, share_among_largest
from adhere.randomness import CHOOSE, point, stream


def test_the_largest_share_the_chance() -> None:
    values = np.array([0.2, 0.7, 0.7, -1.0, 8.0])
    share_among_largest(values, 4)
    assert values.tolist() == [0.0, 0.5, 0.5, 0.0, 8.0]


def test_infinite_values_share_the_chance_too() -> None:
    values = np.array([math.inf, 3.0, math.inf, math.inf])
    share_among_largest(values, 4)
    assert values == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_the_largest() -> None:
    assert largest_of(np.array([-3.0, -1.0, -2.0])) == -1.0


def test_python_runs_the_rules_too() -> None:
    assembled = Thompson().assemble(TrialShape(2))
    rule, rng = assembled.rule, stream(0, 0)
    point(rng, 0, CHOOSE)
    with np.errstate(over="ignore"):
        assert choose(rule, state_of(rule, assembled.state), memo_of(rule, np.zeros(0)), 1.0, rng) in (0, 1)


def test_what_is_no_rule_is_named() -> None:
    with pytest.raises(TypeError, match=r"choose is not implemented for \(1, 2\)"):
        choose((1, 2), State((1, 2), np.zeros(0)), Memo((1, 2), np.zeros(0)), 1.0, stream(0, 0))
