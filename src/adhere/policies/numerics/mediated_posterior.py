"""The posterior of `mediated-thompson`: counts, the odds of both hypotheses, and draws of the best arm under them.

With two arms only the arm is drawn, with a probability that is updated after each patient (see `beta_inequality`).
With more arms, or once a patient took neither of two arms, the probabilities under the mediated hypothesis have no
closed form, but they must still be stated. Each recommendation therefore has its own list of draws, with random
numbers keyed by their index in the list. The stated probability of an arm is its frequency in the list, and the arm
is chosen by drawing an index. Arms are thus chosen with the distribution of Thompson sampling. Choosing an arm takes
one draw; stating the probabilities takes all of them.
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

# Prior counts: one success and one failure of each arm chosen and of each arm taken, and one patient who takes each
# arm under each arm chosen.
PRIOR: Final = 1.0

ODDS: Final = 0.15  # default odds of mediated to confounded, for every arm beyond the first
_STEP: Final = 2.0**512
_LEAST_LOG_ODDS: Final = -690.0  # below this bound, 1/odds would be too large for a float


def first_odds(rule: Any) -> float:
    """Return the prior odds of the confounded to the mediated hypothesis, or 0 if confounding is excluded."""
    log_odds = math.log(rule.fading_odds if fades(rule) else rule.odds)
    return math.exp(-max(log_odds, _LEAST_LOG_ODDS))


@inline
def fades(rule: Any) -> bool:
    """Return whether the prior odds fade, i.e. whether `fading_odds` was given (otherwise it is NaN)."""
    return rule.fading_odds == rule.fading_odds  # type: ignore[no-any-return]


class MediatedPosterior(State):
    """Counts of patients, the odds of the hypotheses, and what the recurrences for two arms need."""

    successes = PerPair()  # by arm chosen and arm taken
    failures = PerPair()
    chosen_successes = PerArm()  # by arm chosen, whatever was taken
    chosen_failures = PerArm()
    others = Number()  # number of patients who took none of the arms
    odds = Number(first_odds)  # of confounded to mediated given the data, before fading, divided by 2^(512 · steps)
    steps = Number()
    # For two arms: probabilities, and what updates them (`beta_inequality`).
    taking_p = Number(0.5)  # that arm 1 is taken more often if chosen than if arm 0 is chosen
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

    means = Vector(lambda rule: rule.n_arms + 2, scratch=True)  # mean rewards by what was taken


def seen(rule: Any, state: State, chosen: int, actual: int, success: bool) -> tuple[float, float, float, float]:
    """Return how many patients took an arm, with this outcome and in total: for the arm chosen, then for all arms."""
    alike, different = (state.successes, state.failures) if success else (state.failures, state.successes)
    own, pooled, pooled_all = alike[chosen, actual], 0.0, 0.0
    for arm in range(rule.n_arms):
        pooled += alike[arm, actual]
        pooled_all += alike[arm, actual] + different[arm, actual]
    return own, own + different[chosen, actual], pooled, pooled_all


def seen_of_two(
    rule: Any, state: State, chosen: int, actual: int, success: bool
) -> tuple[float, float, float, float]:
    """Return the counts of `seen` on a GPU, with constant indices, so that all of them stay in registers."""
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
    """Count one more patient."""
    if success:
        state.successes[chosen, actual] += 1.0
        state.chosen_successes[chosen] += 1.0
    else:
        state.failures[chosen, actual] += 1.0
        state.chosen_failures[chosen] += 1.0
    state.others += 1.0 if actual < 0 else 0.0


def add_patient_of_two(rule: Any, state: State, chosen: int, actual: int, success: bool) -> None:
    """Count a patient who took one of two arms, on a GPU without branches: adding -0.0 leaves a count unchanged."""
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
    """Update the odds by the ratio of the probabilities that the two hypotheses gave to a patient's outcome.

    Each probability is (1 + s) / (2 + n), with s patients of n who had this outcome. If confounded, they are the
    patients with the same arms chosen and taken. If mediated, they are all patients who took the arm. The ratio is
    the factor by which the Bayes factor changes.
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
    """Return the odds of the confounded to the mediated hypothesis. Odds beyond the range of floats become 0 or
    large.

    If the prior odds fade, they are divided by one plus the number of patients of the least chosen arm.
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
    """Update `taking_p`, `reward_p` and `chosen_p`, or only `chosen_p` if the patient took neither arm."""
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
    """Return the probability that arm 1 is better and taken more often if chosen, or worse and taken less often."""
    more, better = state.taking_p, state.reward_p
    return more * better + (1.0 - more) * (1.0 - better)  # type: ignore[no-any-return]


@inline
def probability_of_second(rule: Any, state: State) -> float:
    """Return the probability of choosing arm 1, averaged over both hypotheses by their odds."""
    odds = odds_of_confounded(rule, state)
    return (probability_if_mediated(state) + odds * state.chosen_p) / (1.0 + odds)  # type: ignore[no-any-return]


N_DRAWS = 64


@inline
def floor_of_all_arms(rule: Any, state: State) -> float:
    """Return the exploration floor of all arms together: half a draw over one plus the number of updates.

    It keeps every probability positive.
    """
    updates = 0.0
    for arm in range(rule.n_arms):
        updates += state.chosen_successes[arm] + state.chosen_failures[arm]
    return 0.5 / (N_DRAWS * (1.0 + updates))


@no_inline
def draw_by_list(rule: Any, state: State, memo: Memo, rng: Stream) -> int:
    """Draw an arm uniformly (floor), from `N_DRAWS` draws (mediated) or by the largest drawn mean (confounded)."""
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
    """Write into `out` the probability that `draw_by_list` draws each arm, given its draws of the best arm."""
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
    """Return the draw of the best arm at one index of `N_DRAWS`; repeated calls return the same draw."""
    position = enter_substream(rng, STATED, place)
    arm = draw_if_mediated(rule, state, memo, rng)
    leave_substream(rng, position)
    return arm


@no_inline
def draw_if_mediated(rule: Any, state: State, memo: Memo, rng: Stream) -> int:
    """Return the arm with the largest Σ_a P(a | arm) · θ_a, where θ_a has a Beta and P a Dirichlet posterior.

    θ_a uses all patients who took a. P uses the patients for whom the arm was chosen.
    """
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
            shape += PRIOR if taken < n_arms else 0.0  # other cells have no share until somebody takes them
            if shape > 0.0:
                share = draw_gamma(shape, rng)
                value, total = value + share * memo.means[taken], total + share
        if value * largest_total > largest * total:
            best, largest, largest_total = chosen, value, total
    return best


@inline
def count(rule: Any, state: State, chosen: int, actual: int, success: bool) -> None:
    """Count a patient, after updating the probabilities that choices between two arms use."""
    if rule.n_arms == 2:
        follow_two_arms(rule, state, chosen, actual, success)
    add_patient(rule, state, chosen, actual, success)


def is_drawn(rule: Any, state: State) -> bool:
    """Return whether to use `draw_by_list`: there are more than two arms, or some patients took none of the arms."""
    return bool((rule.n_arms > 2) | (state.others > 0.0))


def never(rule: Any, state: State) -> bool:
    """Return False instead of `is_drawn`, since in simulations everybody takes one of the arms."""
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
    """Draw a hypothesis in proportion to its odds, then the best arm under it."""
    if is_drawn(rule, state):
        return draw_from_list(rule, state, memo, rng)
    # The same comparison as `u < probability_of_second`, without a division.
    u, odds = uniform(rng), odds_of_confounded(rule, state)
    return draw_second(u, u * (1.0 + odds) < probability_if_mediated(state) + odds * state.chosen_p)


@inline
def probabilities_of_best(rule: Any, state: State, memo: Memo, out: Floats, rng: Stream) -> None:
    """Write into `out` the probability that `draw_best` draws each arm."""
    if is_drawn(rule, state):
        probabilities_of_drawing(rule, state, memo, out, rng)
    else:
        out[1] = clipped(probability_of_second(rule, state))
        out[0] = 1.0 - out[1]
