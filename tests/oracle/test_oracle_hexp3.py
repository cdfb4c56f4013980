"""The oracle's Hierarchical EXP3, and what becomes of policies whose guarantee another one gives."""

from __future__ import annotations

import math
from random import Random

import pytest

from . import HierarchicalExp3, Plain, ThompsonBounded, Ucb1


def test_hierarchical_exp3_by_hand() -> None:
    policy = HierarchicalExp3(2, eta=0.3, rho=0.2)
    policy.drawn = 1  # Actual: credits the arm taken, though the other was chosen
    policy.update(0, 1, 0.25, Random(0))
    assert policy.log_v == pytest.approx([0.0, -0.3 * 0.75 * 3, 0.0])
    assert policy.log_w == [[0.0, 0.0], pytest.approx([0.0, -0.2 * 0.75 * 3 * 2]), [0.0, 0.0]]
    policy.drawn = 2  # Comply: nobody complied, so only the top learns
    x = 1 / (2 + math.exp(-0.675))
    policy.update(1, 0, 0.0, Random(0))
    assert policy.log_v[2] == pytest.approx(-0.3 / x)
    assert policy.log_w[2] == [0.0, 0.0]


@pytest.mark.parametrize("decided", [True, False])
def test_hierarchical_exp3_inside_thompson_bounded(decided: bool) -> None:
    inner = HierarchicalExp3(2, eta=0.3, rho=0.2)
    policy = ThompsonBounded(inner)
    policy.inner_decided = decided
    policy.update(0, 1, 0.0, Random(0))
    assert inner.log_w == [pytest.approx([-0.4, 0.0]), pytest.approx([0.0, -0.4]), [0.0, 0.0]]
    assert inner.log_v == pytest.approx([-0.9 if decided else 0.0, 0.0, 0.0])


def test_hierarchical_exp3_survives_a_vanished_weight() -> None:
    policy = HierarchicalExp3(2, eta=0.3, rho=0.2)
    policy.log_w[1] = [0.0, -1e300]
    policy.drawn = 1
    policy.update(0, 1, 0.0, Random(0))
    assert policy.log_w[1] == [0.0, -1e300]
    assert sum(policy.probabilities()) == pytest.approx(1.0)


@pytest.mark.parametrize("outer_literal", [True, False])
def test_thompson_bounded_inside_thompson_bounded(outer_literal: bool) -> None:
    innermost = Ucb1(2)
    inner = ThompsonBounded(Plain(innermost), recycle=True, literal=True)
    outer = ThompsonBounded(inner, literal=outer_literal)
    outer.inner_decided = inner.inner_decided = True
    outer.update(1, 1, 1.0, Random(0))  # a round of the innermost policy
    outer.inner_decided = False
    outer.update(0, 0, 1.0, Random(0))  # a round of the outermost Thompson sampler
    assert outer.thompson.successes == [1.0, 0.0]
    assert inner.thompson.successes == ([0.0, 0.0] if outer_literal else [1.0, 1.0])
    assert innermost.counts == ([0, 1] if outer_literal else [1, 1])
    assert inner.cache.holds(1) == outer_literal
