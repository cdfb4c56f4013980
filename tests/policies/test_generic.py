from __future__ import annotations

import math

import numpy as np
import pytest

from adhere import Thompson
from adhere.policies.generic import choose, largest_of, share_among_largest
from adhere.policies.policy import Setting
from adhere.randomness import stream


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


def test_choosing_outside_compiled_code_says_so() -> None:
    assembled = Thompson().assemble(Setting(2))
    with pytest.raises(TypeError, match="compiled"):
        choose(assembled.rule, assembled.state, np.zeros(0), 1.0, stream(0, 0))
