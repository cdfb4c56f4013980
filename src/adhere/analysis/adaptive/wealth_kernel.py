"""Bets of a confidence sequence against one effect at a time, for many simulated trials.

These are the bets that `running_bets` and `wealth` make for a grid of effects, here for one θ at a time. They need no
arrays of their own, so that simulated trials can run them on processors and GPUs.
"""

import math
from typing import Any, Final, NamedTuple

from adhere.compilation import inline, no_inline
from adhere.protocols import TOOK_OTHER

_LARGE: Final = 2.0**400  # wealth is kept within the range of a double by exact powers of two
_SMALL: Final = 2.0**-400
_LOG_LARGE: Final = 400.0 * math.log(2.0)
_MAX_WALKS: Final = 60
_FIRST_STEP: Final = 0.1
_NEAR_END: Final = 0.999
_TOLERANCE: Final = 1e-5  # tolerance of the last step; the error is far smaller


class Decisions(NamedTuple):
    """Decisions of one trial in order, and the order in which their reports came.

    `chosen[t]` and `probabilities[t, arm]` belong to patient t. While unknown, `rewards[t]` is NaN and `actual[t]` is
    below TOOK_OTHER (for example, NOT_KNOWN). `order[r]` is the patient of the report with number r; a report counts
    once it has everything that the view needs. `known_before[t]` is the number of reports that came before decision
    t; it never decreases.
    """

    chosen: Any
    probabilities: Any
    rewards: Any
    actual: Any
    order: Any
    known_before: Any


@no_inline
def pair_wealth(
    treatment: int, control: int, by_taken: bool, theta: float, log_threshold: float, decisions: Any, n_patients: int,
    scores: Any,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Bet that the effect of one arm against another is above θ, and that it is below θ.

    Parameters
    ----------
    treatment, control
        Indices of the two arms. Decisions for other arms have no effect.
    by_taken
        Whether D is the arm taken (the effect on compliers) rather than the arm chosen (intention-to-treat).
    theta
        The effect to bet against.
    log_threshold
        log(2 / alpha), at which an effect is refuted. The sizes of the bets depend on it.
    decisions
        A `Decisions`; unknown reports enter at their worst case.
    n_patients
        Number of decisions made so far; arrays may be longer.
    scores
        Workspace with one element per patient.

    Returns
    -------
    The logarithms of K⁺ and K⁻ after the last decision, and the largest logarithm of each so far (at least 0).

    """
    n_played, n_heard, n_known, sum_reward, sum_taken, spread = 0.0, 0, 0.0, 0.0, 0.0, 0.25
    mean_reward, mean_taken, half = 0.5, 0.0, 0.5 / (1.0 + abs(theta))
    up, up_scale, up_top, up_largest = 1.0, 0.0, 1.0, 0.0
    down, down_scale, down_top, down_largest = 1.0, 0.0, 1.0, 0.0
    for t in range(n_patients):
        if n_heard < decisions.known_before[t]:
            while n_heard < decisions.known_before[t]:
                s = decisions.order[n_heard]
                n_heard += 1
                if decisions.chosen[s] == treatment or decisions.chosen[s] == control:
                    n_known += 1.0
                    sum_reward += decisions.rewards[s]
                    sum_taken += taken_between(decisions, s, treatment, by_taken)[0]
                    spread += scores[s] * scores[s]
            if n_known > 0.0:
                mean_reward, mean_taken = sum_reward / n_known, sum_taken / n_known
        chosen = decisions.chosen[t]
        if chosen != treatment and chosen != control:
            continue
        n_played += 1.0
        first, second = decisions.probabilities[t, treatment], decisions.probabilities[t, control]
        either = first + second
        weight, cap = 0.0, half
        if either > 0.0:
            weight = (second if chosen == treatment else -first) / either
            cap = half * either / max(first, second)
        rate = 2.0 * log_threshold * (1.0 + n_known) / (n_played * math.log1p(n_played) * spread)
        bet = min(math.sqrt(rate), cap)
        reward = decisions.rewards[t]
        least, most = (reward, reward) if reward == reward else (0.0, 1.0)
        wa, other = weight * (least - mean_reward), weight * (most - mean_reward)
        wa_low, wa_high = min(wa, other), max(wa, other)
        taken_low, taken_high = taken_between(decisions, t, treatment, by_taken)
        one, other = theta * weight * (taken_low - mean_taken), theta * weight * (taken_high - mean_taken)
        scores[t] = wa - one
        up *= 1.0 + bet * (wa_low - max(one, other))
        down *= 1.0 - bet * (wa_high - min(one, other))
        up_top, down_top = max(up_top, up), max(down_top, down)
        if up > _LARGE or up < _SMALL:
            up_largest = max(up_largest, math.log(up_top) + up_scale)
            up, up_scale = rescaled(up, up_scale)
            up_top = up
        if down > _LARGE or down < _SMALL:
            down_largest = max(down_largest, math.log(down_top) + down_scale)
            down, down_scale = rescaled(down, down_scale)
            down_top = down
    up_largest = max(up_largest, math.log(up_top) + up_scale)
    down_largest = max(down_largest, math.log(down_top) + down_scale)
    return math.log(up) + up_scale, math.log(down) + down_scale, up_largest, down_largest


@inline
def taken_between(decisions: Any, t: int, treatment: int, by_taken: bool) -> tuple[float, float]:
    """Return the smallest and largest possible value of D."""
    if not by_taken:
        return (1.0, 1.0) if decisions.chosen[t] == treatment else (0.0, 0.0)
    if decisions.actual[t] < TOOK_OTHER:
        return 0.0, 1.0
    return (1.0, 1.0) if decisions.actual[t] == treatment else (0.0, 0.0)


@inline
def rescaled(wealth: float, scale: float) -> tuple[float, float]:
    """Rescale a wealth by a power of two, and return it with the logarithm of all that was divided out so far."""
    if wealth > _LARGE:
        return wealth * _SMALL, scale + _LOG_LARGE
    return wealth * _LARGE, scale - _LOG_LARGE


@no_inline
def balance_point(
    treatment: int, control: int, by_taken: bool, log_threshold: float, decisions: Any, n_patients: int, scores: Any
) -> float:
    """Return the effect from -1 to 1 at which both bets have equal wealth; for the arguments see `pair_wealth`.

    Return NaN if there is no such effect and no effect is refuted: then there was too little randomisation.
    """
    # The lead of one bet over the other is nearly linear in θ, so that the secant method needs few walks. θ stays
    # between an effect at which one bet leads and an effect at which the other leads.
    low, high, before, ahead_before = -1.0, 1.0, 0.0, 0.0
    theta, following = 0.0, _FIRST_STEP
    for walk in range(_MAX_WALKS):
        up, down, _, _ = pair_wealth(
            treatment, control, by_taken, theta, log_threshold, decisions, n_patients, scores
        )
        ahead = up - down
        if ahead > 0.0:
            low = theta
        else:
            high = theta
        if walk > 0:
            following = theta - ahead * (theta - before) / (ahead - ahead_before) if ahead != ahead_before else low
        elif ahead < 0.0:
            following = -_FIRST_STEP
        if not low < following < high:
            following = 0.5 * (low + high)
        if ahead == 0.0 or abs(following - theta) < _TOLERANCE:
            break
        before, ahead_before, theta = theta, ahead, following
    found = theta if ahead == 0.0 else following
    if walk > 0 and abs(found) < _NEAR_END:
        return found
    up, down, up_largest, _ = pair_wealth(
        treatment, control, by_taken, -1.0, log_threshold, decisions, n_patients, scores
    )
    ahead = up - down
    up, down, _, down_largest = pair_wealth(
        treatment, control, by_taken, 1.0, log_threshold, decisions, n_patients, scores
    )
    is_balanced = ahead > 0.0 >= up - down
    return found if is_balanced or max(up_largest, down_largest) >= log_threshold else math.nan
