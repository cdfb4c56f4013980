"""What `mediated-thompson` does with three or more arms, or where none of two was taken: it draws.

Probabilities must be stated, and there is no closed form of those under the mediated hypothesis. So each
recommendation has a list of draws of its own, each with random numbers that are keyed by its place in the list. What
is stated is how often each arm is in the list, and the arm is chosen by drawing a place in it. So arms are chosen by
the law of Thompson sampling, and to choose takes one draw; only to state takes all of them.
"""

from __future__ import annotations

from adhere.compilation import Memo, State, inline, no_inline
from adhere.policies.aware.mediated_evidence import PRIOR, odds_of_confounded
from adhere.policies.base.generic import Floats, Rule
from adhere.policies.numerics.beta import draw_largest, probabilities_of_being_largest
from adhere.policies.numerics.gamma import draw_gamma
from adhere.randomness import STATED, Stream, turn_aside, turn_back, uniform

N_DRAWS = 64


@inline
def share_of_any_arm(rule: Rule, state: State) -> float:
    """With what probability any arm is chosen, so that none has none: half a draw, over the number of lessons."""
    lessons = 0.0
    for arm in range(rule.n_arms):
        lessons += state.chosen_successes[arm] + state.chosen_failures[arm]
    return 0.5 / (N_DRAWS * (1.0 + lessons))


@no_inline
def choose_by_drawing(rule: Rule, state: State, memo: Memo, rng: Stream) -> int:
    """Any arm, or that of one place in the list, or the one whose mean reward, drawn as if confounded, is largest."""
    any_arm = share_of_any_arm(rule, state)
    mediated = (1.0 - any_arm) / (1.0 + odds_of_confounded(rule, state))
    u = uniform(rng)
    if u < any_arm:
        return int(u / any_arm * rule.n_arms)
    if u < any_arm + mediated:
        place = int((u - any_arm) / mediated * N_DRAWS)
        return draw_at(rule, state, memo, place if place < N_DRAWS else N_DRAWS - 1, rng)
    return draw_largest(state.chosen_successes, state.chosen_failures, PRIOR, rng)


@no_inline
def probabilities_of_drawing(rule: Rule, state: State, memo: Memo, out: Floats, rng: Stream) -> None:
    """The probability of each arm in `choose_by_drawing`, given the list."""
    any_arm, odds = share_of_any_arm(rule, state), odds_of_confounded(rule, state)
    mediated = (1.0 - any_arm) / (1.0 + odds)
    if odds > 0.0:
        probabilities_of_being_largest(state.chosen_successes, state.chosen_failures, PRIOR, out)
    for arm in range(rule.n_arms):
        out[arm] = any_arm / rule.n_arms + (odds * mediated * out[arm] if odds > 0.0 else 0.0)
    for place in range(N_DRAWS):
        out[draw_at(rule, state, memo, place, rng)] += mediated / N_DRAWS


@inline
def draw_at(rule: Rule, state: State, memo: Memo, place: int, rng: Stream) -> int:
    """The arm at one place of the list."""
    before = turn_aside(rng, STATED, place)
    arm = draw_if_mediated(rule, state, memo, rng)
    turn_back(rng, before)
    return arm


@no_inline
def draw_if_mediated(rule: Rule, state: State, memo: Memo, rng: Stream) -> int:
    """The arm with the largest Σ_a P(a | chosen) · θ_a: θ_a ~ Beta of all who took a, P ~ Dirichlet of those told."""
    n_arms = rule.n_arms
    for taken in range(n_arms + 2):  # the arms, something else, nothing
        successes, failures = 0.0, 0.0
        for chosen in range(n_arms):
            successes += state.successes[chosen, taken]
            failures += state.failures[chosen, taken]
        if taken < n_arms or successes + failures > 0.0:
            g = draw_gamma(successes + PRIOR, rng)
            memo.means[taken] = g / (g + draw_gamma(failures + PRIOR, rng))
    best, largest, largest_total = 0, 0.0, 1.0
    for chosen in range(n_arms):
        value, total = 0.0, 0.0
        for taken in range(n_arms + 2):
            shape = state.successes[chosen, taken] + state.failures[chosen, taken]
            shape += PRIOR if taken < n_arms else 0.0  # what is no arm has no share until somebody takes it
            if shape > 0.0:
                share = draw_gamma(shape, rng)
                value, total = value + share * memo.means[taken], total + share
        if value * largest_total > largest * total:
            best, largest, largest_total = chosen, value, total
    return best
