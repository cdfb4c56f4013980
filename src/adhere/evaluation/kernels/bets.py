"""Evidence of a simulated trial beside its outcomes: beliefs of the policy, and bets of the confidence sequences.

A trial that needs none has `NoBets`, for which nothing of this is compiled.
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
LOG_THRESHOLD: Final = math.log(2.0 / 0.05)  # of confidence sequences at 95%


class NoBets(NamedTuple):
    """Nothing is noted."""

    size: int = 0


class Bets(NamedTuple):
    """What is noted of each decision, by patient and lane, and the true effects to hold them against."""

    control: float
    effects: Any  # [arm, view]; of no arms where only looks need the bets
    probabilities: Any  # [patient, arm, lane]
    rewards: Any  # [patient, lane], NaN until it is known
    actual: Any  # [patient, lane], UNKNOWN until it is known
    order: Any  # [report, view, lane] whose report it was
    known_before: Any  # [patient, view, lane] reports before a decision
    n_known: Any  # [view, lane] reports so far
    scores: Any  # [patient, lane]

    @staticmethod
    def of(control: int, effects: Any, n_arms: int, n_patients: int, n_lanes: int, make: Any) -> Bets:
        """Workspace of trials side by side."""
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
    """A trial begins."""


@generic_with_default
def keep_state(bets: Any, sizes: Any, work: Any) -> None:
    """A decision will be made; choosing may change the state."""


@generic_with_default
def note_decision(
    bets: Any, rule: Any, memo: Any, patient: Any, is_prescribed: bool, lane: Any, work: Any, rng: Any
) -> None:
    """A decision was made; its probabilities stand in `work.out` if they were prescribed."""


@generic_with_default
def note_reward(bets: Any, lane: Any, patient: Any, reward: float) -> None:
    """An outcome is reported."""


@generic_with_default
def note_taken(bets: Any, lane: Any, patient: Any, actual: Any) -> None:
    """What was taken is reported, and the outcome has been."""


@generic_with_default
def write_estimates(bets: Any, lane: Any, chosen: Any, n_patients: Any, run: Any, outcomes: Any) -> None:
    """Where both bets of each pair have the same, and whether they ever refuted the true effect."""


@implements(note_start, Bets)
def note_start_of_bets(bets: Any, lane: Any) -> None:
    """Nothing is known."""
    bets.n_known[ITT, lane], bets.n_known[COMPLIERS, lane] = 0, 0


@implements(keep_state, Bets)
def keep_state_for_bets(bets: Any, sizes: Any, work: Any) -> None:
    """Its probabilities are those of the state before."""
    copy_into(work.before, work.state, sizes.state)


@implements(note_decision, Bets)
def note_decision_for_bets(
    bets: Any, rule: Any, memo: Any, patient: Any, is_prescribed: bool, lane: Any, work: Any, rng: Any
) -> None:
    """The policy states its probabilities as in a live trial; the memo is lost."""
    if not is_prescribed:
        point(rng, patient, ESTIMATE)
        probabilities(rule, state_of(rule, work.before), memo, 1.0, work.out, rng)
    for arm in range(rule.n_arms):  # rounding may pass 1
        bets.probabilities[patient, arm, lane] = min(1.0, max(0.0, work.out[arm]))
    bets.rewards[patient, lane], bets.actual[patient, lane] = math.nan, UNKNOWN
    for view in range(2):
        bets.known_before[patient, view, lane] = bets.n_known[view, lane]


@implements(note_reward, Bets)
def note_reward_of_bets(bets: Any, lane: Any, patient: Any, reward: float) -> None:
    """Intention-to-treat needs no more."""
    bets.rewards[patient, lane] = reward
    bets.order[bets.n_known[ITT, lane], ITT, lane] = patient
    bets.n_known[ITT, lane] += 1


@implements(note_taken, Bets)
def note_taken_of_bets(bets: Any, lane: Any, patient: Any, actual: Any) -> None:
    """Now all is known for the effect on compliers."""
    bets.actual[patient, lane] = actual
    bets.order[bets.n_known[COMPLIERS, lane], COMPLIERS, lane] = patient
    bets.n_known[COMPLIERS, lane] += 1


@inline
def decisions_of(bets: Any, chosen: Any, view: int, lane: Any) -> Decisions:
    """What a lane's bets are on, for one of the views."""
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
    """For both views of every pair."""
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
