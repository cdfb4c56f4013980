"""The posterior of `mediated-thompson`: counts, the odds of both hypotheses, and the arm that is best under them.

With two arms nothing is drawn but the arm, by a probability that is followed (see `beta_inequality`). With more arms,
or once none of two arms was taken, there is no closed form of the probabilities under the mediated hypothesis, and
they must be stated. So each recommendation has a list of draws of its own, each with random numbers that are keyed by
its index in the list. The probability stated is how often each arm is in the list, and the arm is chosen by drawing
an index. So arms are chosen by the law of Thompson sampling: to choose takes one draw, to state takes all of them.
"""

import math
from typing import Any, Final

from adhere.compilation import (
    Memo,
    Number,
    PerArm,
    PerPair,
    State,
    Vector,
    if_two_arms,
    inline,
    no_inline,
    specialise,
    unlikely,
)
from adhere.compilation.layout import Floats
from adhere.policies.numerics.beta import draw_largest, probabilities_of_being_largest
from adhere.policies.numerics.beta_inequality import clipped, draw_second, first_h, follow
from adhere.policies.numerics.gamma import draw_gamma
from adhere.randomness import STATED, Stream, enter_substream, leave_substream, uniform

# Counted beforehand: a success and a failure of each arm chosen and of each arm taken, and one patient who
# takes each arm under each arm chosen.
PRIOR: Final = 1.0

ODDS: Final = 0.15  # of mediated to confounded, for every arm beyond the first, unless others are given
_STEP: Final = 2.0**512
_LEAST_LOG_ODDS: Final = -690.0  # below which 1/odds would be too large for a float


def first_odds(rule: Any) -> float:
    """Of confounded to mediated before the first patient; 0 if it cannot be confounded."""
    log_odds = math.log(rule.fading_odds if fades(rule) else rule.odds)
    return math.exp(-max(log_odds, _LEAST_LOG_ODDS))


@inline
def fades(rule: Any) -> bool:
    """Whether the prior odds fade: where such are given, and so are a number."""
    return rule.fading_odds == rule.fading_odds  # type: ignore[no-any-return]


class MediatedPosterior(State):
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
    """Workspace of one draw."""

    means = Vector(lambda rule: rule.n_arms + 2, scratch=True)  # of the reward of each arm taken, and of none of them


def seen(rule: Any, state: State, chosen: int, actual: int, success: bool) -> tuple[float, float, float, float]:
    """Patients told one arm who took another: with this outcome, and all; then the same whatever they were told."""
    alike, different = (state.successes, state.failures) if success else (state.failures, state.successes)
    own, pooled, pooled_all = alike[chosen, actual], 0.0, 0.0
    for arm in range(rule.n_arms):
        pooled += alike[arm, actual]
        pooled_all += alike[arm, actual] + different[arm, actual]
    return own, own + different[chosen, actual], pooled, pooled_all


def seen_of_two(
    rule: Any, state: State, chosen: int, actual: int, success: bool
) -> tuple[float, float, float, float]:
    """Count the same on a GPU: indices are constants and values are picked, so that all of them stay in registers."""
    first_success = state.successes[0, 1] if actual == 1 else state.successes[0, 0]
    second_success = state.successes[1, 1] if actual == 1 else state.successes[1, 0]
    first_failure = state.failures[0, 1] if actual == 1 else state.failures[0, 0]
    second_failure = state.failures[1, 1] if actual == 1 else state.failures[1, 0]
    first, second = (first_success, second_success) if success else (first_failure, second_failure)
    first_all, second_all = first_success + first_failure, second_success + second_failure
    own, own_all = (second, second_all) if chosen == 1 else (first, first_all)
    return own, own_all, first + second, first_all + second_all


specialise(seen, if_two_arms(seen_of_two, seen))
specialise(seen, lambda *_: seen, target="cpu")


def add_patient(rule: Any, state: State, chosen: int, actual: int, success: bool) -> None:
    """Count one patient more."""
    if success:
        state.successes[chosen, actual] += 1.0
        state.chosen_successes[chosen] += 1.0
    else:
        state.failures[chosen, actual] += 1.0
        state.chosen_failures[chosen] += 1.0
    state.others += 1.0 if actual < 0 else 0.0


def add_patient_of_two(rule: Any, state: State, chosen: int, actual: int, success: bool) -> None:
    """Count the same on a GPU, where one of two arms was taken: adding -0.0 changes nothing and takes no branch."""
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


specialise(add_patient, if_two_arms(add_patient_of_two, add_patient))
specialise(add_patient, lambda *_: add_patient, target="cpu")


@inline
def weigh_hypotheses(rule: Any, state: State, chosen: int, actual: int, success: bool) -> None:
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
def odds_of_confounded(rule: Any, state: State) -> float:
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


@inline
def follow_two_arms(rule: Any, state: State, chosen: int, actual: int, success: bool) -> None:
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
def probability_of_second(rule: Any, state: State) -> float:
    """Of choosing arm 1, under both hypotheses by their odds."""
    odds = odds_of_confounded(rule, state)
    return (probability_if_mediated(state) + odds * state.chosen_p) / (1.0 + odds)  # type: ignore[no-any-return]


N_DRAWS = 64


@inline
def floor_of_all_arms(rule: Any, state: State) -> float:
    """Return the exploration floor of all arms together, which keeps every probability positive: half a draw over
    the number of updates.
    """
    updates = 0.0
    for arm in range(rule.n_arms):
        updates += state.chosen_successes[arm] + state.chosen_failures[arm]
    return 0.5 / (N_DRAWS * (1.0 + updates))


@no_inline
def draw_by_list(rule: Any, state: State, memo: Memo, rng: Stream) -> int:
    """Any arm, or that of one place in the list, or the one whose mean reward, drawn as if confounded, is largest."""
    any_arm = floor_of_all_arms(rule, state)
    mediated = (1.0 - any_arm) / (1.0 + odds_of_confounded(rule, state))
    u = uniform(rng)
    if u < any_arm:
        return int(u / any_arm * rule.n_arms)
    if u < any_arm + mediated:
        place = int((u - any_arm) / mediated * N_DRAWS)
        return draw_at(rule, state, memo, place if place < N_DRAWS else N_DRAWS - 1, rng)
    return draw_largest(state.chosen_successes, state.chosen_failures, PRIOR, rng)


@no_inline
def probabilities_of_drawing(rule: Any, state: State, memo: Memo, out: Floats, rng: Stream) -> None:
    """The probability of each arm in `draw_by_list`, given the list."""
    any_arm, odds = floor_of_all_arms(rule, state), odds_of_confounded(rule, state)
    mediated = (1.0 - any_arm) / (1.0 + odds)
    if odds > 0.0:
        probabilities_of_being_largest(state.chosen_successes, state.chosen_failures, PRIOR, out)
    for arm in range(rule.n_arms):
        out[arm] = any_arm / rule.n_arms + (odds * mediated * out[arm] if odds > 0.0 else 0.0)
    for place in range(N_DRAWS):
        out[draw_at(rule, state, memo, place, rng)] += mediated / N_DRAWS


@inline
def draw_at(rule: Any, state: State, memo: Memo, place: int, rng: Stream) -> int:
    """Draw the arm at one index of the list."""
    position = enter_substream(rng, STATED, place)
    arm = draw_if_mediated(rule, state, memo, rng)
    leave_substream(rng, position)
    return arm


@no_inline
def draw_if_mediated(rule: Any, state: State, memo: Memo, rng: Stream) -> int:
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


@inline
def count(rule: Any, state: State, chosen: int, actual: int, success: bool) -> None:
    """Count a patient, after moving the probabilities that two arms are drawn by."""
    if rule.n_arms == 2:
        follow_two_arms(rule, state, chosen, actual, success)
    add_patient(rule, state, chosen, actual, success)


def is_drawn(rule: Any, state: State) -> bool:
    """Whether there is more than can be followed: more than two arms, or patients who took none of them."""
    return bool((rule.n_arms > 2) | (state.others > 0.0))


def never(rule: Any, state: State) -> bool:
    """In simulations everybody takes one of the arms."""
    return False


def draw_from_list(rule: Any, state: State, memo: Memo, rng: Stream) -> int:
    """Call `draw_by_list`."""
    return draw_by_list(rule, state, memo, rng)


def stub(rule: Any, state: State, memo: Memo, rng: Stream) -> int:
    """Stub, so that the two-arm kernel skips the Gamma code."""
    return 0


specialise(is_drawn, if_two_arms(never, is_drawn))
specialise(draw_from_list, if_two_arms(stub, draw_from_list))


@inline
def draw_best(rule: Any, state: State, memo: Memo, rng: Stream) -> int:
    """Draw a hypothesis by its odds and the arm that is best under it."""
    if is_drawn(rule, state):
        return draw_from_list(rule, state, memo, rng)
    # As `u < probability_of_second`, without dividing.
    u, odds = uniform(rng), odds_of_confounded(rule, state)
    return draw_second(u, u * (1.0 + odds) < probability_if_mediated(state) + odds * state.chosen_p)


@inline
def probabilities_of_best(rule: Any, state: State, memo: Memo, out: Floats, rng: Stream) -> None:
    """Write the probability of each arm in `draw_best`."""
    if is_drawn(rule, state):
        probabilities_of_drawing(rule, state, memo, out, rng)
    else:
        out[1] = clipped(probability_of_second(rule, state))
        out[0] = 1.0 - out[1]
