"""Beta posteriors of all arms: drawing the arm with the largest θ, and its probabilities.

With more than two arms each θ is drawn. With two arms only the winner is drawn, with P(θ_1 > θ_0), which is updated
with each success or failure (see `beta_inequality`).
"""

from typing import Any

from adhere.compilation import Number, PerArm, State, by_number_of_arms, inline
from adhere.policies.numerics.beta import draw_largest, probabilities_of_being_largest
from adhere.policies.numerics.beta_inequality import clipped, draw_second, first_h, follow
from adhere.randomness import Stream, uniform


class BetaPosterior(State):
    """The parameters of each arm's Beta distribution, and what the recurrence for two arms needs."""

    successes = PerArm(1.0)  # including the prior's 1
    failures = PerArm(1.0)
    p = Number(0.5)  # P(θ_1 > θ_0), for two arms
    h = Number(first_h(1.0))  # the amount by which p changes, divided by 2^(-512 · exponent)
    exponent = Number()


@inline
def _draw_best_of_two(rule: Any, state: State, rng: Stream) -> int:
    u = uniform(rng)
    return draw_second(u, u < state.p)


@inline
def draw_each(rule: Any, state: State, rng: Stream) -> int:
    """Draw a θ for each arm and return the arm with the largest."""
    return draw_largest(state.successes, state.failures, 0.0, rng)


# Draw the arm whose θ is the largest: draw_best(rule, state, rng).
draw_best = by_number_of_arms(_draw_best_of_two, draw_each)


@inline
def count(rule: Any, state: State, arm: int, success: bool) -> None:
    """Count a success or a failure of an arm."""
    if rule.n_arms == 2:
        _follow_p(state, arm, success)
    if success:
        state.successes[arm] += 1.0
    else:
        state.failures[arm] += 1.0


@inline
def _follow_p(state: State, arm: int, success: bool) -> None:
    """Update p = P(θ_1 > θ_0) and h for one more success or failure of an arm."""
    successes, failures = state.successes[0] + state.successes[1], state.failures[0] + state.failures[1]
    own_success, own_failure = state.successes[arm], state.failures[arm]
    own, of_its_kind = (own_success, successes) if success else (own_failure, failures)
    of_arm, total, rises = own_success + own_failure, successes + failures, (arm == 1) == success
    state.p, state.h, state.exponent = follow(
        state.p, state.h, state.exponent, own, of_its_kind, of_arm, total, rises
    )


@inline
def _probabilities_of_two(rule: Any, state: State, out: Any) -> None:
    out[1] = clipped(state.p)
    out[0] = 1.0 - out[1]


@inline
def _probabilities_of_more(rule: Any, state: State, out: Any) -> None:
    probabilities_of_being_largest(state.successes, state.failures, 0.0, out)


# Write the probability of each arm in `draw_best` into `out`: probabilities_of_best(rule, state, out).
probabilities_of_best = by_number_of_arms(_probabilities_of_two, _probabilities_of_more)
