"""What `mediated-thompson` does with two arms: nothing is drawn but the arm, by a probability that is followed."""

from __future__ import annotations

from adhere.compilation import State, inline
from adhere.policies.aware.mediated_evidence import PRIOR, odds_of_confounded, seen
from adhere.policies.base.generic import Rule
from adhere.policies.numerics.beta_inequality import follow


@inline
def follow_two_arms(rule: Rule, state: State, chosen: int, actual: int, success: bool) -> None:
    """Move all three probabilities; of a patient who took none of the arms, only that of the arm chosen."""
    chosen_successes = state.chosen_successes[0] + state.chosen_successes[1]
    chosen_failures = state.chosen_failures[0] + state.chosen_failures[1]
    own_successes, own_failures = state.chosen_successes[chosen], state.chosen_failures[chosen]
    own, of_its_kind = (own_successes, chosen_successes) if success else (own_failures, chosen_failures)
    state.chosen_p, state.chosen_h, state.chosen_exponent = follow(
        state.chosen_p,
        state.chosen_h,
        state.chosen_exponent,
        own + PRIOR,
        of_its_kind + 2.0 * PRIOR,
        own_successes + own_failures + 2.0 * PRIOR,
        chosen_successes + chosen_failures + 4.0 * PRIOR,
        (chosen == 1) == success,
    )
    if actual >= 0:
        _, told, alike, took = seen(rule, state, chosen, actual, success)
        _, told_but, alike_but, took_but = seen(rule, state, chosen, 1 - actual, success)
        state.taking_p, state.taking_h, state.taking_exponent = follow(
            state.taking_p,
            state.taking_h,
            state.taking_exponent,
            told + PRIOR,
            took + 2.0 * PRIOR,
            told + told_but + 2.0 * PRIOR,
            took + took_but + 4.0 * PRIOR,
            chosen == actual,
        )
        state.reward_p, state.reward_h, state.reward_exponent = follow(
            state.reward_p,
            state.reward_h,
            state.reward_exponent,
            alike + PRIOR,
            alike + alike_but + 2.0 * PRIOR,
            took + 2.0 * PRIOR,
            took + took_but + 4.0 * PRIOR,
            (actual == 1) == success,
        )


@inline
def probability_if_mediated(state: State) -> float:
    """That arm 1 is the better one to choose: more take it and it is better, or fewer take it and it is worse."""
    more, better = state.taking_p, state.reward_p
    return more * better + (1.0 - more) * (1.0 - better)  # type: ignore[no-any-return]


@inline
def probability_of_second(rule: Rule, state: State) -> float:
    """Of choosing arm 1, under both hypotheses by their odds."""
    odds = odds_of_confounded(rule, state)
    return (probability_if_mediated(state) + odds * state.chosen_p) / (1.0 + odds)  # type: ignore[no-any-return]
