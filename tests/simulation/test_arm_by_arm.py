"""The engine's arms, one by one, against the oracle fed with the same random numbers.

One wrong weight, draw, credit or order of learning changes an arm sooner or later, so this sees faults that a
comparison of distributions cannot (see the list in `test_against_oracle`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import oracle

from .engine import arms_of
from .mixed_populations import CREDIT_TABLES, THREE_ARMS, TWO_ARMS, engine_population
from .stream_oracle import (
    EpsilonGreedy,
    Thompson,
    ThompsonBounded,
    Ucb1,
    UnitThompson,
    hierarchical,
)
from .stream_oracle import arms_of as oracle_arms_of

N_PATIENTS, N_RUNS, SEED = 300, 6, 11
POPULATIONS = {"two arms": engine_population(TWO_ARMS), "three arms": engine_population(THREE_ARMS)}
Make = Callable[[int], oracle.Policy]


def exp3(k: int) -> oracle.Exp3:
    return oracle.Exp3(k, 0.2)


def default_exp3(k: int) -> oracle.Exp3:
    return oracle.Exp3(k, oracle.default_gamma(k, N_PATIENTS))


LEARNERS: dict[str, Callable[[int], oracle.Learner]] = {
    "epsilon-greedy": EpsilonGreedy,
    "epsilon-greedy(epsilon=0.2)": lambda k: EpsilonGreedy(k, 0.2),
    "ucb1": Ucb1,
    "thompson": UnitThompson,
    "base-thompson": UnitThompson,  # on its own it is `thompson`
    "exp3": default_exp3,
    "exp3(gamma=0.2)": exp3,
}


def three(
    learner: Callable[[int], oracle.Learner],
    k: int,
    certified: Callable[[int], oracle.Learner] | None = None,
    recycle: bool = False,
) -> oracle.Policy:
    """A base under Chosen, Actual and Comply, under EXP3 with the default γ."""
    experts = [((certified or learner)(k), "chosen"), (learner(k), "actual"), (learner(k), "comply")]
    return hierarchical(list(experts), default_exp3(3), recycle)


HYBRIDS: dict[str, Make] = {
    "hierarchical(epsilon-greedy)": lambda k: three(EpsilonGreedy, k),
    "hierarchical(ucb1)": lambda k: three(Ucb1, k),
    "hierarchical(thompson)": lambda k: three(UnitThompson, k, certified=Thompson),
    "hierarchical(exp3(gamma=0.2))": lambda k: three(exp3, k),
    "hierarchical(exp3(gamma=0.2), top=epsilon-greedy)": lambda k: hierarchical(
        [(exp3(k), "chosen"), (exp3(k), "actual"), (exp3(k), "comply")], EpsilonGreedy(3)
    ),
    "hierarchical(epsilon-greedy, recycle=true)": lambda k: three(EpsilonGreedy, k, recycle=True),
    "hierarchical(thompson, recycle=true)": lambda k: three(UnitThompson, k, recycle=True),
    "hierarchical(exp3(gamma=0.2), recycle=true)": lambda k: three(exp3, k, recycle=True),
    "hierarchical(experts=[thompson, ucb1/actual, epsilon-greedy, exp3(gamma=0.2)/comply])": lambda k: hierarchical(
        [(Thompson(k), "chosen"), (Ucb1(k), "actual"), (EpsilonGreedy(k), "chosen"), (exp3(k), "comply")],
        default_exp3(4),
    ),
    "hierarchical(experts=[epsilon-greedy, ucb1/actual, thompson], recycle=true)": lambda k: hierarchical(
        [(EpsilonGreedy(k), "chosen"), (Ucb1(k), "actual"), (UnitThompson(k), "chosen")], default_exp3(3), True
    ),
    "thompson-bounded(hierarchical(epsilon-greedy))": lambda k: ThompsonBounded(three(EpsilonGreedy, k)),
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)": lambda k: ThompsonBounded(
        three(EpsilonGreedy, k), recycle=True
    ),
    "thompson-bounded(hierarchical(epsilon-greedy), literal=true)": lambda k: ThompsonBounded(
        three(EpsilonGreedy, k), literal=True
    ),
    "thompson-bounded(hierarchical(thompson), literal=true)": lambda k: ThompsonBounded(
        three(UnitThompson, k, certified=Thompson), literal=True
    ),
    "thompson-bounded(hierarchical(thompson, recycle=true), recycle=true, literal=true)": lambda k: ThompsonBounded(
        three(UnitThompson, k, recycle=True), recycle=True, literal=True
    ),
    "thompson-bounded(epsilon-greedy/actual)": lambda k: ThompsonBounded(oracle.Plain(EpsilonGreedy(k), "actual")),
    "thompson-bounded(epsilon-greedy/actual, recycle=true)": lambda k: ThompsonBounded(
        oracle.Plain(EpsilonGreedy(k), "actual"), recycle=True
    ),
    "hierarchical-exp3(eta=0.05, rho=0.05)": lambda k: oracle.HierarchicalExp3(k, 0.05, 0.05),
    "thompson-bounded(hierarchical-exp3(eta=0.05, rho=0.05))": lambda k: ThompsonBounded(
        oracle.HierarchicalExp3(k, 0.05, 0.05)
    ),
    "thompson-bounded(thompson-bounded(ucb1/comply, recycle=true), recycle=true)": lambda k: ThompsonBounded(
        ThompsonBounded(oracle.Plain(Ucb1(k), "comply"), recycle=True), recycle=True
    ),
}


def assert_same_arms(text: str, make: Make, population: str) -> None:
    answering = POPULATIONS[population]
    engine = arms_of(text, answering, N_PATIENTS, N_RUNS, SEED)
    for run, arms in enumerate(engine):
        expected = oracle_arms_of(make(answering.n_arms), answering, N_PATIENTS, SEED, run)
        np.testing.assert_array_equal(arms, expected, f"run {run}")


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("protocol", ["chosen", "actual", "comply", "credit"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_learner_under_protocol(learner: str, protocol: str, population: str) -> None:
    text, table = CREDIT_TABLES[population] if protocol == "credit" else (protocol, protocol)
    assert_same_arms(f"{learner}/{text}", lambda k: oracle.Plain(LEARNERS[learner](k), table), population)


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("policy", HYBRIDS)
def test_hybrid(policy: str, population: str) -> None:
    assert_same_arms(policy, HYBRIDS[policy], population)
