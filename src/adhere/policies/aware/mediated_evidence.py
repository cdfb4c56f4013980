"""What `mediated-thompson` has learned: counts, how much they speak for each hypothesis, and for each of two arms."""

from __future__ import annotations

import math
from typing import Final

from adhere.compilation import (
    Memo,
    Number,
    PerArm,
    PerPair,
    State,
    Vector,
    if_two_arms,
    inline,
    specialise,
    unlikely,
)
from adhere.policies.base.generic import Rule
from adhere.policies.numerics.beta_inequality import first_h

# What is counted beforehand: a success and a failure of each arm chosen and of each arm taken, and one patient who
# takes each arm under each arm chosen.
PRIOR: Final = 1.0

ODDS: Final = 0.15  # of mediated to confounded, for every arm beyond the first, unless others are given
_STEP: Final = 2.0**512
_LEAST_LOG_ODDS: Final = -690.0  # below which 1/odds would be too large for a float


def first_odds(rule: Rule) -> float:
    """Of confounded to mediated before the first patient; 0 if it cannot be confounded."""
    log_odds = math.log(rule.fading_odds if fades(rule) else rule.odds)
    return math.exp(-max(log_odds, _LEAST_LOG_ODDS))


@inline
def fades(rule: Rule) -> bool:
    """Whether the prior odds fade: where such are given, and so are a number."""
    return rule.fading_odds == rule.fading_odds  # type: ignore[no-any-return]


class MediatedState(State):
    """Counts of patients, the odds of the hypotheses, and what two arms need beside them."""

    successes = PerPair()  # of those told one arm who took another
    failures = PerPair()
    chosen_successes = PerArm()  # of those told an arm, whatever they took
    chosen_failures = PerArm()
    others = Number()  # how many took none of the arms
    odds = Number(first_odds)  # of confounded to mediated by all that is known, in units of 2^(512 · steps), unfaded
    steps = Number()
    # Of two arms: a probability, and what it is followed by (`beta_inequality`).
    taking_p = Number(0.5)  # that arm 1 is taken more often if it is chosen than if arm 0 is
    taking_h = Number(first_h(PRIOR))
    taking_exponent = Number()
    reward_p = Number(0.5)  # that taking arm 1 is better, if mediated
    reward_h = Number(first_h(PRIOR))
    reward_exponent = Number()
    chosen_p = Number(0.5)  # that choosing arm 1 is better, if confounded
    chosen_h = Number(first_h(PRIOR))
    chosen_exponent = Number()


class MediatedMemo(Memo):
    """Room for one draw."""

    means = Vector(lambda rule: rule.n_arms + 2, scratch=True)  # of the reward of each arm taken, and of none of them


def seen(rule: Rule, state: State, chosen: int, actual: int, success: bool) -> tuple[float, float, float, float]:
    """Patients told one arm who took another: with this outcome, and all; then the same whatever they were told."""
    alike, different = (state.successes, state.failures) if success else (state.failures, state.successes)
    own, pooled, pooled_all = alike[chosen, actual], 0.0, 0.0
    for arm in range(rule.n_arms):
        pooled += alike[arm, actual]
        pooled_all += alike[arm, actual] + different[arm, actual]
    return own, own + different[chosen, actual], pooled, pooled_all


def seen_of_two(
    rule: Rule, state: State, chosen: int, actual: int, success: bool
) -> tuple[float, float, float, float]:
    """The same. Places are constants and values are picked, so that all of them stay in registers."""
    first_success = state.successes[0, 1] if actual == 1 else state.successes[0, 0]
    second_success = state.successes[1, 1] if actual == 1 else state.successes[1, 0]
    first_failure = state.failures[0, 1] if actual == 1 else state.failures[0, 0]
    second_failure = state.failures[1, 1] if actual == 1 else state.failures[1, 0]
    first, second = (first_success, second_success) if success else (first_failure, second_failure)
    first_all, second_all = first_success + first_failure, second_success + second_failure
    own, own_all = (second, second_all) if chosen == 1 else (first, first_all)
    return own, own_all, first + second, first_all + second_all


specialise(seen, if_two_arms(seen_of_two, seen))


def count(rule: Rule, state: State, chosen: int, actual: int, success: bool) -> None:
    """One patient more."""
    if success:
        state.successes[chosen, actual] += 1.0
        state.chosen_successes[chosen] += 1.0
    else:
        state.failures[chosen, actual] += 1.0
        state.chosen_failures[chosen] += 1.0
    state.others += 1.0 if actual < 0 else 0.0


def count_of_two(rule: Rule, state: State, chosen: int, actual: int, success: bool) -> None:
    """The same where one of two arms was taken: nothing changes by -0.0, so that no branch is needed."""
    of_00, of_01 = (chosen == 0) & (actual == 0), (chosen == 0) & (actual == 1)
    of_10, of_11 = (chosen == 1) & (actual == 0), (chosen == 1) & (actual == 1)
    state.successes[0, 0] += 1.0 if of_00 & success else -0.0
    state.successes[0, 1] += 1.0 if of_01 & success else -0.0
    state.successes[1, 0] += 1.0 if of_10 & success else -0.0
    state.successes[1, 1] += 1.0 if of_11 & success else -0.0
    state.failures[0, 0] += -0.0 if success else 1.0 if of_00 else -0.0
    state.failures[0, 1] += -0.0 if success else 1.0 if of_01 else -0.0
    state.failures[1, 0] += -0.0 if success else 1.0 if of_10 else -0.0
    state.failures[1, 1] += -0.0 if success else 1.0 if of_11 else -0.0
    for arm in range(2):
        state.chosen_successes[arm] += 1.0 if success and arm == chosen else -0.0
        state.chosen_failures[arm] += 1.0 if arm == chosen and not success else -0.0


specialise(count, if_two_arms(count_of_two, count))


@inline
def weigh(rule: Rule, state: State, chosen: int, actual: int, success: bool) -> None:
    """Let a patient speak for one of the hypotheses: by the probability that each gave to the outcome.

    They are (1 + s) / (2 + n) of those told the same who took the same, if confounded, and the same of all who took
    it, if mediated. Their ratio is all that the Bayes factor changes by.
    """
    own, own_all, pooled, pooled_all = seen(rule, state, chosen, actual, success)
    if_confounded = (PRIOR + own) * (2.0 * PRIOR + pooled_all)
    if_mediated = (PRIOR + pooled) * (2.0 * PRIOR + own_all)
    odds, steps = state.odds * (if_confounded / if_mediated), state.steps
    if unlikely((odds < (1.0 if steps > 0.0 else 1.0 / _STEP)) & (odds > 0.0)):
        odds *= _STEP
        steps -= 1.0
    elif unlikely(odds > (1.0 if steps < 0.0 else _STEP)):
        odds /= _STEP
        steps += 1.0
    state.odds, state.steps = odds, steps


@inline
def odds_of_confounded(rule: Rule, state: State) -> float:
    """Of confounded to mediated; what no probability could tell from 0 or from infinite is 0 or large.

    Odds that fade are over one and the fewest patients of any arm chosen.
    """
    odds = state.odds
    if unlikely(state.steps != 0.0):
        odds = _STEP if state.steps > 0.0 else 0.0
    fewest = state.chosen_successes[0] + state.chosen_failures[0]
    for arm in range(1, rule.n_arms):
        patients = state.chosen_successes[arm] + state.chosen_failures[arm]
        fewest = patients if patients < fewest else fewest
    return odds * (1.0 + fewest) if fades(rule) else odds  # type: ignore[no-any-return]
