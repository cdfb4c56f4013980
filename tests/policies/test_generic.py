from __future__ import annotations

import math

import numpy as np
import pytest

from adhere import HacUcb, Thompson
from adhere.compilation import Memo, State, memo_of, state_of
from adhere.policies.base.generic import choose
from adhere.policies.base.policy import TrialShape
from adhere.policies.numerics.selection import largest_of, probabilities_of_largest_index
from adhere.randomness import CHOOSE, point, stream


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([0.2, 0.7, 0.7, -1.0], [0.0, 0.5, 0.5, 0.0]),
        ([math.inf, 3.0, math.inf, math.inf], [1 / 3, 0.0, 1 / 3, 1 / 3]),
    ],
)
def test_arms_with_the_largest_index_are_equally_likely(indices: list[float], expected: list[float]) -> None:
    assembled = HacUcb(explore=1, delta=0.1).assemble(TrialShape(4))
    state, memo = state_of(assembled.rule, assembled.state), memo_of(assembled.rule, np.zeros(0))
    state.indices[:] = indices
    out, rng = np.full(6, 8.0), stream(0, 0)
    probabilities_of_largest_index(assembled.rule, state, memo, 1.0, out, rng)
    assert out.tolist() == pytest.approx([*expected, 8.0, 8.0])


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
