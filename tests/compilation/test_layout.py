"""State and memo by name: the same places in Python and compiled, whether numbers of arms are static or not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from adhere.compilation import (
    Index,
    Matrix,
    Memo,
    Number,
    Part,
    Parts,
    PerArm,
    State,
    Vector,
    laid_out,
    memo_of,
    state_of,
    strip,
)
from adhere.compilation.static import static_type
from slow import slow


class LearnerState(State):
    counts = PerArm()
    means = PerArm(0.5)
    rate = Number(lambda rule: 2.0 * rule.speed)


class LearnerMemo(Memo):
    shares = PerArm()


@laid_out(state=LearnerState, memo=LearnerMemo)
class LearnerRule(NamedTuple):
    speed: float
    n_arms: int
    table: Any


class TableState(State):
    table = Matrix(rows=lambda rule: rule.n_arms, columns=lambda rule: 3)


@laid_out(state=TableState)
class TableRule(NamedTuple):
    n_arms: int


class HybridState(State):
    top = Part()
    experts = Parts()
    spares = Parts(lambda rule: (rule.top,) * 2)


class HybridMemo(Memo):
    drawn = Index()
    top = Part()
    experts = Parts()
    work = Vector(lambda rule: 2 * rule.n_arms, scratch=True)


@laid_out(state=HybridState, memo=HybridMemo)
class HybridRule(NamedTuple):
    top: Any
    experts: tuple[Any, ...]
    n_arms: int


def learner(n_arms: int) -> LearnerRule:
    return LearnerRule(0.125, n_arms, np.zeros((n_arms, n_arms)))


def hybrid(n_arms: int) -> HybridRule:
    return HybridRule(learner(2), (learner(n_arms), TableRule(n_arms)), n_arms)


def in_every_way(function: Any, rule: Any, *arguments: Any) -> list[list[Any]]:
    """The arguments after a call in Python, compiled with static numbers, and compiled without."""
    ways = [function]
    for type_of in (static_type, numba.typeof):
        signature = (type_of(rule), *map(numba.typeof, arguments))
        ways.append(numba.njit(_nrt=False, error_model="numpy")(function).compile(signature))
    found = []
    for way in ways:
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        way(rule, *copies)
        found.append([one.tolist() if isinstance(one, np.ndarray) else one for one in copies])
    return found


def test_sizes_and_first_values_follow_from_the_rule() -> None:
    rule = hybrid(3)
    assert LearnerState.initial(rule.top).tolist() == [0.0, 0.0, 0.5, 0.5, 0.25]
    strips = [0, 0, 0, 0.5, 0.5, 0.5, 0.25, 0, 0, *[0] * 9]
    assert HybridState.initial(rule).tolist() == [0, 0, 0.5, 0.5, 0.25, *strips, *[0, 0, 0.5, 0.5, 0.25] * 2]
    assert HybridMemo.size(rule, with_scratch=False) == 1 + 2 + 2 * 3
    assert HybridMemo.size(rule) == 1 + 2 + 2 * 3 + 6


def touch(rule: Any, floats: Any, memo_floats: Any, arm: int) -> None:
    state, memo = state_of(rule, floats), memo_of(rule, memo_floats)
    memo.drawn = arm
    memo.top.shares[1] = 7.0
    memo.work[rule.n_arms + memo.drawn] += 3.0
    state.top.counts[1] += memo.drawn
    state.top.rate *= 4.0
    first = state_of(rule.experts[0], strip(state.experts, 0, 2))
    first.means[arm] += 100.0
    memo_of(rule.experts[0], strip(memo.experts, 0, 2)).shares[arm] = first.means[arm]
    second = state_of(rule.experts[1], strip(state.experts, 1, 2))
    second.table[arm, 2] = 10.0
    row = second.table[0]
    row[0] = 20.0 + row.size
    state_of(rule.top, strip(state.spares, 1, 2)).rate = 30.0


@pytest.mark.parametrize("n_arms", [2, 3, 5])
def test_places_are_the_same_in_python_and_compiled(n_arms: int) -> None:
    rule = hybrid(n_arms)
    state, memo = HybridState.initial(rule), np.zeros(HybridMemo.size(rule))
    python, static, run_time = in_every_way(touch, rule, state, memo, 1)
    assert python == static == run_time
    changed = (np.array(python[0]) != state).sum()
    assert changed == 6


def multiply(rule: Any, floats: Any, arm: int) -> None:
    state = state_of(rule, floats)
    state.means[arm] = 10.0 * state.means[arm]


@pytest.mark.parametrize("n_arms", [1, 2, 3, slow(4), slow(5), 9])
def test_an_entry_is_read_and_written_wherever_it_is(n_arms: int) -> None:
    for arm in range(-1, n_arms):
        expected = np.arange(1.0, 2 * n_arms + 2)
        expected[n_arms + arm % n_arms] *= 10.0
        for floats, _ in in_every_way(multiply, learner(n_arms), np.arange(1.0, 2 * n_arms + 2), arm):
            assert floats == expected.tolist()


@pytest.mark.parametrize(("n_arms", "type_of"), [(2, static_type), (3, numba.typeof)])
def test_with_bounds_checks_an_entry_outside_is_an_error(n_arms: int, type_of: Any) -> None:
    rule, floats = learner(n_arms), np.zeros(2 * n_arms + 1)
    signature = (type_of(rule), numba.float64[::1], numba.int64)
    checked = numba.njit(_nrt=False, error_model="numpy", boundscheck=True)(multiply).compile(signature)
    for arm in (n_arms, 40, -n_arms - 1):
        with pytest.raises(IndexError, match="out of bounds"):
            checked(rule, floats, arm)
    checked(rule, floats, n_arms - 1)


@numba.njit  # type: ignore[untyped-decorator]
def softmax(rule: Any, floats: Any) -> Any:
    weights = np.exp(state_of(rule, floats).means / rule.speed)
    return weights / weights.sum()


def test_numpy_takes_vectors_as_arrays() -> None:
    assert softmax(learner(4), LearnerState.initial(learner(4))).tolist() == [0.25] * 4


def misspelt(rule: Any, floats: Any) -> float:
    return float(state_of(rule, floats).meens[0])


def test_a_name_that_was_not_declared_is_an_error() -> None:
    rule = learner(2)
    with pytest.raises(AttributeError, match="meens"):
        misspelt(rule, LearnerState.initial(rule))
    with pytest.raises(numba.TypingError, match="meens"):
        numba.njit(misspelt).compile((static_type(rule), numba.float64[::1]))
