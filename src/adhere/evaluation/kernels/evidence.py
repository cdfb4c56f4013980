"""What the rules of a look need beside outcomes: what the policy believes, or what bets have won."""

from __future__ import annotations

from typing import Any

from adhere.analysis.adaptive.wealth_kernel import pair_wealth
from adhere.compilation import generic_with_default, implements
from adhere.evaluation.kernels.bets import ITT, decisions_of
from adhere.looks.judge import BeliefRules, WealthRules
from adhere.randomness import ESTIMATE, point
from adhere.trial.policy.steps import write_beliefs


@generic_with_default
def gather_evidence(
    rules: Any, rule: Any, state: Any, memo: Any, bets: Any, chosen: Any, lane: Any, n_patients: Any, work: Any,
    evidence: Any, rng: Any,
) -> None:  # fmt: skip
    """Write what the rules need of the evidence; the outcomes stand there already."""


@implements(gather_evidence, BeliefRules)
def gather_beliefs(
    rules: Any, rule: Any, state: Any, memo: Any, bets: Any, chosen: Any, lane: Any, n_patients: Any, work: Any,
    evidence: Any, rng: Any,
) -> None:  # fmt: skip
    """The probabilities of the learner inside all guards, at the next patient."""
    point(rng, n_patients, ESTIMATE)
    write_beliefs(rule, state, memo, work.out, rng)
    for arm in range(rules.n_arms):
        evidence.beliefs[arm] = work.out[arm]


@implements(gather_evidence, WealthRules)
def gather_wealth(
    rules: Any, rule: Any, state: Any, memo: Any, bets: Any, chosen: Any, lane: Any, n_patients: Any, work: Any,
    evidence: Any, rng: Any,
) -> None:  # fmt: skip
    """The most that the bets against no effect ever had."""
    control = int(bets.control)
    for arm in range(rules.n_arms):
        if arm != control:
            decisions = decisions_of(bets, chosen, ITT, lane)
            _, _, up, down = pair_wealth(
                arm, control, False, 0.0, rules.log_threshold, decisions, n_patients, bets.scores[:, lane]
            )
            evidence.log_up[arm], evidence.log_down[arm] = up, down
