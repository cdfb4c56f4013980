"""The bets of a confidence sequence against one effect, for many simulated trials: a walk that needs no memory.

The same bets as `betting_steps` and `confidence_sequence_kernel` lay and play for a grid of effects, here for one θ
at a time and without arrays of their own, so that simulated trials on processors and GPUs can run it.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from adhere.compilation import inline, no_inline
from adhere.protocols import TOOK_OTHER

_LARGE: Final = 2.0**400  # wealth is a product, kept within a double by exact powers of two
_SMALL: Final = 2.0**-400
_LOG_LARGE: Final = 400.0 * math.log(2.0)
_MAX_HALVINGS: Final = 60
_TOLERANCE: Final = 1e-7


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
    up, up_scale, up_top, up_largest = 1.0, 0.0, 1.0, 0.0
    down, down_scale, down_top, down_largest = 1.0, 0.0, 1.0, 0.0
    for t in range(n_patients):
        while n_heard < decisions.known_before[t]:
            s = decisions.order[n_heard]
            n_heard += 1
            if decisions.chosen[s] == treatment or decisions.chosen[s] == control:
                low, high = taken_between(decisions, s, treatment, by_taken)
                if low == high and decisions.rewards[s] == decisions.rewards[s]:
                    n_known += 1.0
                    sum_reward += decisions.rewards[s]
                    sum_taken += low
                    spread += scores[s] * scores[s]
        chosen = decisions.chosen[t]
        if chosen != treatment and chosen != control:
            continue
        n_played += 1.0
        first, second = decisions.probabilities[t, treatment], decisions.probabilities[t, control]
        either = first + second
        weight, largest = 0.0, 1.0
        if either > 0.0:
            weight = (second if chosen == treatment else -first) / either
            largest = max(first, second) / either
        mean_reward = sum_reward / n_known if n_known > 0.0 else 0.5
        mean_taken = sum_taken / n_known if n_known > 0.0 else 0.0
        rate = 2.0 * log_threshold * (1.0 + n_known) / (n_played * math.log1p(n_played))
        bet = min(math.sqrt(rate / spread), 0.5 / largest / (1.0 + abs(theta)))
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
    """The effect from -1 to 1 at which both bets have the same; arguments are those of `pair_wealth`."""
    low, high = -1.0, 1.0
    up, down, _, _ = pair_wealth(treatment, control, by_taken, low, log_threshold, decisions, n_patients, scores)
    at_low = up - down
    up, down, _, _ = pair_wealth(treatment, control, by_taken, high, log_threshold, decisions, n_patients, scores)
    at_high = up - down
    if at_low <= 0.0:
        return low
    if at_high >= 0.0:
        return high
    side = 0
    for _ in range(_MAX_HALVINGS):
        # False position, in which an end that stays twice counts half (the Illinois rule)
        theta = low + (high - low) * at_low / (at_low - at_high)
        up, down, _, _ = pair_wealth(
            treatment, control, by_taken, theta, log_threshold, decisions, n_patients, scores
        )
        ahead = up - down
        if abs(ahead) < _TOLERANCE or high - low < _TOLERANCE:
            return theta
        if ahead > 0.0:
            low, at_low = theta, ahead
            at_high *= 0.5 if side > 0 else 1.0
            side = 1
        else:
            high, at_high = theta, ahead
            at_low *= 0.5 if side < 0 else 1.0
            side = -1
    return theta
