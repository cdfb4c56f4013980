"""The bets of a confidence sequence against one effect, for many simulated trials: a walk that needs no memory.

The same bets as `running_bets` and `wealth` lay and play for a grid of effects, here for one θ
at a time and without arrays of their own, so that simulated trials on processors and GPUs can run it.
"""

import math
from typing import Any, Final, NamedTuple

from adhere.compilation import inline, no_inline
from adhere.protocols import TOOK_OTHER

_LARGE: Final = 2.0**400  # wealth is a product, kept within a double by exact powers of two
_SMALL: Final = 2.0**-400
_LOG_LARGE: Final = 400.0 * math.log(2.0)
_MAX_WALKS: Final = 60
_FIRST_STEP: Final = 0.1
_NEAR_END: Final = 0.999
_TOLERANCE: Final = 1e-5  # of the last step; the error is far smaller


class Decisions(NamedTuple):
    """The decisions of one trial in order, and the order in which they came to be known.

    `chosen[t]` and `probabilities[t, arm]` are of patient t. `rewards[t]` is NaN and `actual[t]` below TOOK_OTHER
    (NOT_KNOWN, say) as long as they are not known. `order[r]` is the patient whose report, with all that the view
    needs, came as number r, and `known_before[t]` the number of reports that came before decision t, never fewer than
    before the one before.
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
    """Bet that the effect of one arm over another is above θ, and that it is below.

    Parameters
    ----------
    treatment, control
        The arms, by number. Decisions for other arms change nothing.
    by_taken
        Whether D is what was taken (the effect on compliers), and not what was chosen (intention-to-treat).
    theta
        The effect to bet against.
    log_threshold
        log(2 / alpha), at which an effect is refuted; what is bet depends on it.
    decisions
        A `Decisions`; what is not known enters at its worst case.
    n_patients
        How many decisions have been made; arrays may be longer.
    scores
        Room to work in: a place for each patient.

    Returns
    -------
    The logarithms of K⁺ and K⁻ after the last decision, and the largest that each was after any decision, or 0.

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
    """The least and the most that D can be."""
    if not by_taken:
        return (1.0, 1.0) if decisions.chosen[t] == treatment else (0.0, 0.0)
    if decisions.actual[t] < TOOK_OTHER:
        return 0.0, 1.0
    return (1.0, 1.0) if decisions.actual[t] == treatment else (0.0, 0.0)


@inline
def rescaled(wealth: float, scale: float) -> tuple[float, float]:
    """A wealth with a power of two taken out or put in, and the logarithm of what was taken out so far."""
    if wealth > _LARGE:
        return wealth * _SMALL, scale + _LOG_LARGE
    return wealth * _LARGE, scale - _LOG_LARGE


@no_inline
def balance_point(
    treatment: int, control: int, by_taken: bool, log_threshold: float, decisions: Any, n_patients: int, scores: Any
) -> float:
    """The effect from -1 to 1 at which both bets have the same; arguments are those of `pair_wealth`.

    NaN where there is none and no effect is refuted: then too little was left to chance.
    """
    # What one bet is ahead of the other is nearly linear in θ, so that the secant method needs few walks. It is kept
    # between effects at which one and the other are known to be ahead.
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
