"""P(θ_1 > θ_0) for two Beta variates, updated exactly with each success or failure."""

import math
from typing import Final

from adhere.compilation import guessed, inline, unlikely

# The probability is clipped to these bounds before it is drawn with or stated. Beyond them the recurrence leaves only
# rounding noise, which may be exactly 0 or 1, or slightly outside.
MIN_P: Final = 1e-12
MAX_P: Final = 1.0 - MIN_P

# If the arms are far apart, h underflows, but it must be able to grow again when they move closer. So the stored
# number is h · 2^(512 · exponent), where the exponent counts such steps.
_STEP: Final = 2.0**512


def first_h(prior: float) -> float:
    """Return the h of `follow` before the first update, for two Beta variates with the same parameters.

    >>> first_h(1.0)
    0.16666666666666666
    """
    return math.gamma(2.0 * prior) ** 4 / (math.gamma(4.0 * prior) * math.gamma(prior) ** 4)


@inline
def clipped(p: float) -> float:
    """Return p clipped to [MIN_P, MAX_P]: the probability that is both stated and used for drawing."""
    p = p if p > MIN_P else MIN_P
    return p if p < MAX_P else MAX_P


@inline
def draw_second(u: float, is_below_p: bool) -> int:
    """Return arm 1 if u is below the clipped p, otherwise arm 0. Only one of the comparisons depends on p."""
    return guessed(1 if (is_below_p & (u < MAX_P)) | (u < MIN_P) else 0)  # type: ignore[no-any-return]


@inline
def follow(
    p: float, h: float, exponent: float, own: float, of_its_kind: float, of_arm: float, total: float, rises: bool
) -> tuple[float, float, float]:
    """Return P(θ_1 > θ_0), h and its exponent after one more success or failure of an arm.

    `own` is the parameter about to grow by 1. `of_its_kind` is the sum of both arms' parameters of that kind
    (successes or failures), `of_arm` the sum of the arm's two parameters, and `total` the sum of all four. P rises
    with a success of arm 1 and with a failure of arm 0. Reference: Cook (2005), "Exact calculation of beta
    inequalities".
    """
    share = 1.0 / (own * total)
    change = h * (share * total) if exponent == 0.0 else 0.0
    h *= of_its_kind * of_arm * share
    if unlikely(h < 1.0 / _STEP):
        h *= _STEP
        exponent += 1.0
    elif unlikely((h > 1.0) & (exponent > 0.0)):
        h /= _STEP
        exponent -= 1.0
    return p + (change if rises else -change), h, exponent
