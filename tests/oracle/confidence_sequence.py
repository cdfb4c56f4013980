"""The confidence sequence of a constant effect by betting, from its definition: loops and logarithms, θ by θ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple


class Decision(NamedTuple):
    """One decision between two arms: which it was, π of both, Y and D (None: not known), and places in the log."""

    is_treatment: bool
    treatment_probability: float
    control_probability: float
    reward: float | None
    taken: float | None
    known_at: float
    seen: float
    batch: int | None = None  # the number of the first decision whose order with this one is not known


def log_wealth(decisions: Sequence[Decision], theta: float, level: float) -> list[tuple[float, float]]:
    """The logarithms of K⁺ and K⁻ after every decision.

    Decisions of a batch know what came before it, and count as if each were its first.
    """
    up = down = 0.0
    so_far: list[tuple[float, float]] = []
    scores: list[float | None] = []  # g_t(θ), None where it is not known
    for number, now in enumerate(decisions, start=1):
        s = number if now.batch is None else now.batch + 1
        known = [t for t in range(s - 1) if decisions[t].known_at <= now.seen and scores[t] is not None]
        rho = sum(_outcome(decisions[t], theta) for t in known) / len(known) if known else 0.5
        variance = (0.25 + sum((scores[t] or 0.0) ** 2 for t in known)) / (1 + len(known))
        both = now.treatment_probability + now.control_probability
        weight = (now.control_probability if now.is_treatment else -now.treatment_probability) / both
        bound = max(now.treatment_probability, now.control_probability) / both * (1 + abs(theta))
        bet = min(math.sqrt(2 * math.log(2 / (1 - level)) / (variance * s * math.log(1 + s))), 0.5 / bound)
        rewards = (0.0, 1.0) if now.reward is None else (now.reward,)
        taken = (0.0, 1.0) if now.taken is None else (now.taken,)
        possible = [weight * (y - theta * d - rho) for y, d in product(rewards, taken)]
        up += math.log(min(1 + bet * g for g in possible))
        down += math.log(min(1 - bet * g for g in possible))
        scores.append(possible[0] if len(possible) == 1 else None)
        so_far.append((up, down))
    return so_far


def _outcome(decision: Decision, theta: float) -> float:
    assert decision.reward is not None
    assert decision.taken is not None
    return decision.reward - theta * decision.taken


def refuted_at(decisions: Sequence[Decision], theta: float, level: float) -> int | None:
    """After how many decisions θ leaves the set."""
    for number, wealth in enumerate(log_wealth(decisions, theta, level), start=1):
        if max(wealth) >= math.log(2 / (1 - level)):
            return number
    return None
