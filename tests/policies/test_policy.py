from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adhere import (
    EpsilonGreedy,
    Exp3,
    HierarchicalBandit,
    InputError,
    Policy,
    Thompson,
    ThompsonBounded,
    Ucb1,
    Uniform,
)
from adhere.policies import Learner, choice, choose, flag, implements, learn, parameter, policy
from adhere.policies.base.policy import TrialShape
from adhere.protocols import ACTUAL


@pytest.mark.parametrize("gamma", [1, np.float64(0.5), np.float32(0.5), np.int64(1)])
def test_any_kind_of_number_is_a_parameter(gamma: Any) -> None:
    policy = Exp3(gamma=gamma)
    assert type(policy.gamma) is float
    assert policy == Exp3(gamma=float(gamma))


@pytest.mark.parametrize("gamma", [0, -1, 1.0001, math.nan, math.inf, True, "0.1", [0.1], 1j])
def test_a_parameter_out_of_range_is_named(gamma: Any) -> None:
    with pytest.raises(InputError, match=r"^exp3 gamma: got .* expected a number above 0 and at most 1$"):
        Exp3(gamma=gamma)


def test_ranges_are_said_in_words() -> None:
    def expected(**bounds: Any) -> str:
        with pytest.raises(InputError) as error:
            parameter(default=0.0, **bounds).metadata["check"]("x", "no number")
        return error.value.expected

    assert expected(above=0) == "a number above 0"
    assert expected(at_least=0.5) == "a number at least 0.5"
    assert expected(at_most=2) == "a number at most 2"
    assert expected(at_least=0, at_most=1) == "a number at least 0 and at most 1"
    assert expected() == "a number"
    assert expected(at_least=1, whole=True) == "a whole number at least 1"
    assert expected(above=0, infinite=True) == "a number above 0, or inf"


def test_none_is_only_for_parameters_that_may_be_left_open() -> None:
    assert Exp3(gamma=None).gamma is None
    with pytest.raises(InputError):
        parameter(default=1.0).metadata["check"]("x", None)


def test_whole_and_infinite_numbers() -> None:
    whole = parameter(default=1, at_least=1, whole=True).metadata["check"]
    assert isinstance(whole("x", 2.0), int)
    infinite = parameter(default=1.0, above=0, infinite=True).metadata["check"]
    assert infinite("x", math.inf) == infinite("x", "inf") == math.inf
    for check, value in ((whole, 1.5), (whole, math.inf), (infinite, math.nan), (infinite, -math.inf)):
        with pytest.raises(InputError):
            check("x", value)


def test_words_are_one_of_the_options() -> None:
    check = choice(default="mix", options=("mix", "clip")).metadata["check"]
    assert check("x", "clip") == "clip"
    with pytest.raises(InputError, match=r"^x: got 'clop', expected one of mix, clip \(did you mean 'clip'\?\)$"):
        check("x", "clop")


def test_flags_are_true_or_false() -> None:
    check = flag(default=False).metadata["check"]
    assert check("x", np.bool_(True)) is True
    with pytest.raises(InputError, match="true or false"):
        check("x", 1)


def test_policies_of_different_classes_are_never_equal() -> None:
    values: list[Policy] = [Thompson(), Ucb1(), Uniform(), EpsilonGreedy(), Exp3()]
    values += [ThompsonBounded(Thompson()), HierarchicalBandit(Thompson())]
    assert all((one == other) == (one is other) for one in values for other in values)
    assert len({*values, Thompson()}) == len(values)


def test_under_another_protocol_it_is_another_learner() -> None:
    assert Exp3(gamma=0.1).under(ACTUAL) == Exp3(gamma=0.1, protocol=ACTUAL)
    assert Exp3(gamma=0.1).under(ACTUAL) != Exp3(gamma=0.1)


def test_what_is_assembled_shares_nothing() -> None:
    one, other = (Thompson().assemble(TrialShape(3)) for _ in range(2))
    one.state[:] = -1.0
    one.rule.credit[:] = -1
    assert (other.state >= 0).all()
    assert (other.rule.credit >= -1).all()
    assert other.rule.credit[2, 0] == 2


def test_a_rule_holds_the_numbers_of_the_policy_and_of_the_trial() -> None:
    rule = EpsilonGreedy(protocol=ACTUAL).assemble(TrialShape(4)).rule
    assert math.isnan(rule.epsilon)
    assert rule.n_arms == 4
    assert rule.credit[3, :4].tolist() == [0, 1, 2, 3]


def test_a_rule_has_whole_numbers_as_floats_and_no_words() -> None:
    @policy("worded")
    class Worded(Learner):
        patients: int = parameter(default=5, whole=True)
        rule: str = choice(default="mix", options=("mix", "clip"))

    assert Worded.rule_class._fields == ("patients", "n_arms", "credit")
    implements(choose, Worded)(lambda rule, state, memo, weight, rng: 0)
    implements(learn, Worded)(lambda rule, state, memo, arm, reward, weight, rng: None)
    rule = Worded().assemble(TrialShape(2)).rule
    assert type(rule.patients) is float  # or each number would be compiled for itself
