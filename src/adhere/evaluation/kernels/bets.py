"""Evidence of a simulated trial besides outcomes: beliefs of the policy and bets of confidence sequences.

A trial without such evidence has `NoBets`, so that this code is not compiled.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from adhere.analysis.adaptive.wealth_kernel import Decisions, balance_point, pair_wealth
from adhere.compilation import generic_with_default, implements, inline, state_of
from adhere.compilation.intrinsics import copy_into
from adhere.evaluation.kernels.patients import UNKNOWN, quantize
from adhere.looks.judge import BeliefRules, WealthRules
from adhere.policies.base.generic import probabilities
from adhere.randomness import ESTIMATE, point
from adhere.trial.policy.steps import write_beliefs

ITT: Final = 0
COMPLIERS: Final = 1
LOG_THRESHOLD: Final = math.log(2.0 / 0.05)  # for confidence sequences at 95%


class NoBets(NamedTuple):
    """Placeholder for trials without bets; nothing is recorded."""

    size: int = 0


class Bets(NamedTuple):
    """Data of each decision by patient and lane, and the true effects to compare with."""

    control: float
    effects: Any  # [arm, view]; no arms if only looks need the bets
    probabilities: Any  # [patient, arm, lane]
    rewards: Any  # [patient, lane], NaN until known
    actual: Any  # [patient, lane], UNKNOWN until known
    order: Any  # [report, view, lane] patient of the report
    known_before: Any  # [patient, view, lane] number of reports before a decision
    n_known: Any  # [view, lane] number of reports so far
    scores: Any  # [patient, lane]

    @staticmethod
    def of(control: int, effects: Any, n_arms: int, n_patients: int, n_lanes: int, make: Any) -> Bets:
        """Allocate the workspace for `n_lanes` trials side by side."""
        return Bets(
            float(max(control, 0)),
            effects,
            make((n_patients, n_arms, n_lanes), np.float64),
            make((n_patients, n_lanes), np.float64),
            make((n_patients, n_lanes), np.int32),
            make((n_patients, 2, n_lanes), np.int32),
            make((n_patients, 2, n_lanes), np.int32),
            make((2, n_lanes), np.int32),
            make((n_patients, n_lanes), np.float64),
        )


@generic_with_default
def note_start(bets: Any, lane: Any) -> None:
    """Record the start of a trial."""


@generic_with_default
def keep_state(bets: Any, sizes: Any, work: Any) -> None:
    """Save the state before a decision, because choosing may change it."""


@generic_with_default
def note_decision(
    bets: Any, rule: Any, memo: Any, patient: Any, is_prescribed: bool, lane: Any, work: Any, rng: Any
) -> None:
    """Record a decision; its probabilities are in `work.out` if they were prescribed."""


@generic_with_default
def note_reward(bets: Any, lane: Any, patient: Any, reward: float) -> None:
    """Record a reported outcome."""


@generic_with_default
def note_taken(bets: Any, lane: Any, patient: Any, actual: Any) -> None:
    """Record the report of the arm taken, after the outcome."""


@generic_with_default
def write_estimates(bets: Any, lane: Any, chosen: Any, n_patients: Any, run: Any, outcomes: Any) -> None:
    """Write the balance point of each pair's bets, and whether they ever refuted the true effect."""


@implements(note_start, Bets)
def note_start_of_bets(bets: Any, lane: Any) -> None:
    """Reset the counts of reports."""
    bets.n_known[ITT, lane], bets.n_known[COMPLIERS, lane] = 0, 0


@implements(keep_state, Bets)
def keep_state_for_bets(bets: Any, sizes: Any, work: Any) -> None:
    """Copy the state, because the probabilities of the decision follow from it."""
    copy_into(work.before, work.state, sizes.state)


@implements(note_decision, Bets)
def note_decision_for_bets(
    bets: Any, rule: Any, memo: Any, patient: Any, is_prescribed: bool, lane: Any, work: Any, rng: Any
) -> None:
    """Store the probabilities that the policy states, like a live trial; this overwrites the memo."""
    if not is_prescribed:
        point(rng, patient, ESTIMATE)
        probabilities(rule, state_of(rule, work.before), memo, 1.0, work.out, rng)
    for arm in range(rule.n_arms):  # rounding may exceed 1
        bets.probabilities[patient, arm, lane] = min(1.0, max(0.0, work.out[arm]))
    bets.rewards[patient, lane], bets.actual[patient, lane] = math.nan, UNKNOWN
    for view in range(2):
        bets.known_before[patient, view, lane] = bets.n_known[view, lane]


@implements(note_reward, Bets)
def note_reward_of_bets(bets: Any, lane: Any, patient: Any, reward: float) -> None:
    """Store the outcome, which completes the report for intention-to-treat."""
    bets.rewards[patient, lane] = reward
    bets.order[bets.n_known[ITT, lane], ITT, lane] = patient
    bets.n_known[ITT, lane] += 1


@implements(note_taken, Bets)
def note_taken_of_bets(bets: Any, lane: Any, patient: Any, actual: Any) -> None:
    """Store the arm taken, which completes the report for compliers."""
    bets.actual[patient, lane] = actual
    bets.order[bets.n_known[COMPLIERS, lane], COMPLIERS, lane] = patient
    bets.n_known[COMPLIERS, lane] += 1


@inline
def decisions_of(bets: Any, chosen: Any, view: int, lane: Any) -> Decisions:
    """Return the decisions of a lane for one of the views."""
    return Decisions(
        chosen[:, lane],
        bets.probabilities[:, :, lane],
        bets.rewards[:, lane],
        bets.actual[:, lane],
        bets.order[:, view, lane],
        bets.known_before[:, view, lane],
    )


@implements(write_estimates, Bets)
def write_estimates_of_bets(bets: Any, lane: Any, chosen: Any, n_patients: Any, run: Any, outcomes: Any) -> None:
    """Write estimates and coverage for both views of every pair."""
    control = int(bets.control)
    for arm in range(bets.effects.shape[0]):
        for view in range(2):
            if arm != control:
                decisions = decisions_of(bets, chosen, view, lane)
                scores, by_taken, effect = bets.scores[:, lane], view == COMPLIERS, bets.effects[arm, view]
                balance = balance_point(arm, control, by_taken, LOG_THRESHOLD, decisions, n_patients, scores)
                outcomes.estimate[run, arm, view] = quantize(balance) if balance == balance else math.nan
                if effect == effect:
                    _, _, up, down = pair_wealth(
                        arm, control, by_taken, effect, LOG_THRESHOLD, decisions, n_patients, scores
                    )
                    holds = up < LOG_THRESHOLD and down < LOG_THRESHOLD
                    outcomes.covers[run, arm, view] = 1.0 if holds else 0.0


@generic_with_default
def gather_evidence(
    rules: Any, rule: Any, state: Any, memo: Any, bets: Any, chosen: Any, lane: Any, n_patients: Any, work: Any,
    evidence: Any, rng: Any,
) -> None:  # fmt: skip
    """Write into `evidence` what the rules need besides the outcomes, which it already contains."""


@implements(gather_evidence, BeliefRules)
def gather_beliefs(
    rules: Any, rule: Any, state: Any, memo: Any, bets: Any, chosen: Any, lane: Any, n_patients: Any, work: Any,
    evidence: Any, rng: Any,
) -> None:  # fmt: skip
    """Write into `evidence` the beliefs of the learner inside all guards, as of the next patient."""
    point(rng, n_patients, ESTIMATE)
    write_beliefs(rule, state, memo, work.out, rng)
    for arm in range(rules.n_arms):
        evidence.beliefs[arm] = work.out[arm]


@implements(gather_evidence, WealthRules)
def gather_wealth(
    rules: Any, rule: Any, state: Any, memo: Any, bets: Any, chosen: Any, lane: Any, n_patients: Any, work: Any,
    evidence: Any, rng: Any,
) -> None:  # fmt: skip
    """Write into `evidence` the largest wealth so far of the bets against the hypothesis of no effect."""
    control = int(bets.control)
    for arm in range(rules.n_arms):
        if arm != control:
            decisions = decisions_of(bets, chosen, ITT, lane)
            _, _, up, down = pair_wealth(
                arm, control, False, 0.0, rules.log_threshold, decisions, n_patients, bets.scores[:, lane]
            )
            evidence.log_up[arm], evidence.log_down[arm] = up, down
