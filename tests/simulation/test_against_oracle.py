"""The compiled engine against the plain-Python oracle, in distribution, where `test_arm_by_arm` cannot see a fault.

That comparison is exact, but says in the engine's own way how a random number becomes an arm (`stream_oracle`):
a wrong way there and here would be the same arm. So each such way is held against the oracle's own: what Uniform,
ε-greedy, UCB1 (as KL-UCB does), Thompson, top-two and mediated Thompson draw, Thompson with weights, an outcome taken
from a cache, ThompsonBounded's three draws, a burn-in's blocks and a floor's rounds.

Mean counts of each arm are compared by z-tests, and the whole distribution of the counts of arm 0 by a
two-sample chi-square test. All p-values together raise a false alarm with probability below 1% (Bonferroni);
the seeds are fixed, so the outcome is the same each time.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import oracle
from oracle import PolicyMaker
from slow import slow

from .engine import counts_of
from .mixed_populations import Rows, engine_population, oracle_population, rows_for

N_PATIENTS, ENGINE_RUNS, ORACLE_RUNS = 80, 4000, 300

THOMPSON = oracle.thompson()
POLICIES: dict[str, PolicyMaker] = {
    "uniform": oracle.plain(oracle.uniform()),
    "epsilon-greedy": oracle.plain(oracle.epsilon_greedy()),
    "ucb1": oracle.plain(oracle.ucb1()),
    "thompson": oracle.plain(THOMPSON),
    "top-two-thompson(beta=0.8)": oracle.plain(oracle.top_two_thompson(0.8)),
    "mediated-thompson": oracle.mediated_thompson(),
    "hierarchical(thompson)": oracle.hierarchical(THOMPSON),
    "hierarchical(thompson, recycle=true)": oracle.hierarchical(THOMPSON, recycle=True),
    "thompson-bounded(thompson/actual)": oracle.thompson_bounded(oracle.plain(THOMPSON, "actual")),
    "thompson-bounded(thompson/actual, recycle=true)": oracle.thompson_bounded(
        oracle.plain(THOMPSON, "actual"), recycle=True
    ),
    "burn-in(floor(exp3(gamma=0.3), share=0.15, control=0.3), patients=25)": oracle.burn_in(
        oracle.floor(oracle.plain(oracle.exp3(0.3)), 0.15, 0.3), 25
    ),
}
# How three arms are drawn is the learners' own, whatever they are in; mediated-thompson's oracle takes long for them.
THREE_ARMED = (
    "uniform",
    "epsilon-greedy",
    "ucb1",
    "thompson",
    "top-two-thompson(beta=0.8)",
    "hierarchical(thompson, recycle=true)",
)
# A z-test for each arm (but one for two arms, whose counts add up) and a chi-square test.
LEVEL = 0.01 / (len(POLICIES) * (1 + 1) + len(THREE_ARMED) * (3 + 1))


def compare(policy: str, maker: PolicyMaker, rows: Rows) -> list[float]:
    """The p-values of all comparisons."""
    engine = counts_of(policy, engine_population(rows), N_PATIENTS, ENGINE_RUNS, seed=1)
    runs = oracle.simulate(maker, oracle_population(rows), N_PATIENTS, ORACLE_RUNS, seed=2)
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


CASES = [slow(policy, 2) if "(" in policy else (policy, 2) for policy in POLICIES] + [
    slow(policy, 3) for policy in THREE_ARMED
]


@pytest.mark.parametrize(("policy", "n_arms"), CASES)
def test_arms_are_drawn_by_the_same_law(policy: str, n_arms: int) -> None:
    assert min(compare(policy, POLICIES[policy], rows_for(policy, n_arms))) > LEVEL
