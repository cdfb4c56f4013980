"""The compiled engine against the plain-Python oracle, in distribution, for every algorithm.

Mean counts of each arm are compared by z-tests, and the whole distribution of the counts of arm 0 by a
two-sample chi-square test. All p-values together raise a false alarm with probability below 1% (Bonferroni);
the seeds are fixed, so the outcome is the same each time.

Deliberate faults, one at a time, that were seen to turn these tests red: EXP3's importance weights left out of
the hierarchy; certified ε-greedy or EXP3 experts that learn from every round; ε annealed by rounds instead of
lessons (under Comply); √(ln n / n_j) in UCB1; ThompsonBounded with a sampler that learns from every round, with
the first draw pulled instead of a third, with the literal reading in place of the default, without recycling,
or recycling with replacement; ρ of Hierarchical EXP3 doubled; a top that learns nothing; Actual read as Chosen,
Comply as Actual. Too small for this many runs, but red in `test_arm_by_arm`: base Thompson without weights or
with a prior of 1, a hierarchy that recycles with replacement or not at all, a top that hears of rounds it did
not decide, ties given to the first arm, γ that is 1% off.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import oracle
from oracle import PolicyMaker

from .engine import counts_of
from .mixed_populations import CREDIT_TABLES, THREE_ARMS, TWO_ARMS, Rows, engine_population, oracle_population

N_PATIENTS, ENGINE_RUNS, ORACLE_RUNS = 80, 4000, 300
POPULATIONS = {"two arms": TWO_ARMS, "three arms": THREE_ARMS}

LEARNERS = {
    "epsilon-greedy": oracle.epsilon_greedy(),
    "epsilon-greedy(epsilon=0.2)": oracle.epsilon_greedy(0.2),
    "ucb1": oracle.ucb1(),
    "thompson": oracle.thompson(),
    "base-thompson": oracle.thompson(),
    "exp3": oracle.exp3(),
    "exp3(gamma=0.3)": oracle.exp3(0.3),
}
EXP3, GREEDY, THOMPSON, UCB1 = oracle.exp3(0.2), oracle.epsilon_greedy(), oracle.thompson(), oracle.ucb1()
ON_GREEDY = oracle.hierarchical(GREEDY, top=oracle.exp3(0.3))
HYBRIDS: dict[str, PolicyMaker] = {
    "uniform": oracle.plain(oracle.uniform()),
    "hierarchical(epsilon-greedy, top=exp3(gamma=0.3))": ON_GREEDY,
    "hierarchical(ucb1)": oracle.hierarchical(UCB1),
    "hierarchical(thompson)": oracle.hierarchical(THOMPSON),
    "hierarchical(exp3(gamma=0.2), top=exp3(gamma=0.3))": oracle.hierarchical(EXP3, top=oracle.exp3(0.3)),
    "hierarchical(thompson, top=thompson)": oracle.hierarchical(THOMPSON, top=THOMPSON),
    "hierarchical(exp3(gamma=0.2), top=epsilon-greedy)": oracle.hierarchical(EXP3, top=GREEDY),
    "hierarchical(epsilon-greedy, recycle=true)": oracle.hierarchical(GREEDY, recycle=True),
    "hierarchical(thompson, recycle=true)": oracle.hierarchical(THOMPSON, recycle=True),
    "hierarchical(exp3(gamma=0.2), recycle=true)": oracle.hierarchical(EXP3, recycle=True),
    "hierarchical(experts=[thompson, ucb1/actual, epsilon-greedy, exp3(gamma=0.2)/comply])": oracle.hierarchical_of(
        [(THOMPSON, "chosen"), (UCB1, "actual"), (GREEDY, "chosen"), (EXP3, "comply")]
    ),
    "hierarchical(experts=[epsilon-greedy, ucb1/actual, thompson], recycle=true)": oracle.hierarchical_of(
        [(GREEDY, "chosen"), (UCB1, "actual"), (THOMPSON, "chosen")], recycle=True
    ),
    "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.3)))": oracle.thompson_bounded(ON_GREEDY),
    "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.3)), recycle=true)": oracle.thompson_bounded(
        ON_GREEDY, recycle=True
    ),
    "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.3)), literal=true)": oracle.thompson_bounded(
        ON_GREEDY, literal=True
    ),
    "thompson-bounded(hierarchical(thompson), literal=true)": oracle.thompson_bounded(
        oracle.hierarchical(THOMPSON), literal=True
    ),
    "thompson-bounded(hierarchical(thompson, recycle=true), recycle=true, literal=true)": oracle.thompson_bounded(
        oracle.hierarchical(THOMPSON, recycle=True), recycle=True, literal=True
    ),
    "thompson-bounded(epsilon-greedy/actual)": oracle.thompson_bounded(oracle.plain(GREEDY, "actual")),
    "thompson-bounded(epsilon-greedy/actual, recycle=true)": oracle.thompson_bounded(
        oracle.plain(GREEDY, "actual"), recycle=True
    ),
    "thompson-bounded(epsilon-greedy/actual, literal=true)": oracle.thompson_bounded(
        oracle.plain(GREEDY, "actual"), literal=True
    ),
    "hierarchical-exp3(eta=0.05, rho=0.05)": oracle.hierarchical_exp3(0.05, 0.05),
    "thompson-bounded(hierarchical-exp3(eta=0.05, rho=0.05))": oracle.thompson_bounded(
        oracle.hierarchical_exp3(0.05, 0.05)
    ),
    "thompson-bounded(thompson-bounded(ucb1/comply, recycle=true), recycle=true)": oracle.thompson_bounded(
        oracle.thompson_bounded(oracle.plain(UCB1, "comply"), recycle=True), recycle=True
    ),
}
SLOW = "hierarchical(thompson, top=thompson)"  # both integrate over Beta laws at every decision
N_CASES = len(LEARNERS) * 4 + len(HYBRIDS)
# A z-test for each arm (but one for two arms, whose counts add up) and a chi-square test.
LEVEL = 0.01 / (N_CASES * ((1 + 1) + (3 + 1)))


def compare(policy: str, maker: PolicyMaker, rows: Rows) -> list[float]:
    """The p-values of all comparisons."""
    engine_runs, oracle_runs = (500, 80) if policy == SLOW else (ENGINE_RUNS, ORACLE_RUNS)
    engine = counts_of(policy, engine_population(rows), N_PATIENTS, engine_runs, seed=1)
    runs = oracle.simulate(maker, oracle_population(rows), N_PATIENTS, oracle_runs, seed=2)
    return p_values(engine, np.array(runs))


def p_values(engine: NDArray[np.int64], plain: NDArray[np.int64]) -> list[float]:
    """Of a z-test on each arm's mean count, then of a chi-square test on the counts of arm 0."""
    found = []
    for arm in range(engine.shape[1] if engine.shape[1] > 2 else 1):
        error = math.hypot(*(sample[:, arm].std(ddof=1) / math.sqrt(len(sample)) for sample in (engine, plain)))
        z = (engine[:, arm].mean() - plain[:, arm].mean()) / error
        found.append(2.0 * float(stats.norm.sf(abs(z))))
    # Bins that hold at least a tenth of the engine's runs each, so 30 of the oracle's.
    edges = np.unique(np.quantile(engine[:, 0], np.linspace(0.1, 0.9, 9)))
    table = [
        np.bincount(np.searchsorted(edges, sample[:, 0]), minlength=len(edges) + 1) for sample in (engine, plain)
    ]
    filled = np.array(table)[:, np.sum(table, axis=0) > 0]
    found.append(float(stats.chi2_contingency(filled).pvalue))
    return found


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("protocol", ["chosen", "actual", "comply", "credit"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_learner_under_protocol(learner: str, protocol: str, population: str) -> None:
    text, table = CREDIT_TABLES[population] if protocol == "credit" else (protocol, protocol)
    rows = POPULATIONS[population]
    assert min(compare(f"{learner}/{text}", oracle.plain(LEARNERS[learner], table), rows)) > LEVEL


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("policy", HYBRIDS)
def test_hybrid(policy: str, population: str) -> None:
    assert min(compare(policy, HYBRIDS[policy], POPULATIONS[population])) > LEVEL
