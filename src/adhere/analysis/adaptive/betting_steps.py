"""What is bet at each decision between two arms, and what the score can be, as far as it is the same for all effects.

With Ȳ and D̄ the means of Y and D over the outcomes known when decision s was made (½ and 0 before the first),

    g_s(θ) = w_s·(a_s - θ·b_s),    a_s = Y_s - Ȳ_s,    b_s = D_s - D̄_s

and the spread (¼ + Σ g_t(θ)²) over those outcomes is a polynomial in θ of degree two. So a few numbers for each
decision are all that the loop over effects needs. Decisions of a batch, whose order is not known, use what was known
before the batch, and s is that of its first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from adhere.analysis.adaptive.batches import batch_ends, batch_starts
from adhere.analysis.adaptive.confidence_sequence_kernel import (
    CAP,
    COLUMNS,
    ENTRY,
    LAST,
    RATE,
    SPREAD_0,
    SPREAD_1,
    SPREAD_2,
    WA_HIGH,
    WA_LOW,
    WB_HIGH,
    WB_LOW,
)
from adhere.analysis.adaptive.pair_scores import PairScores
from adhere.analysis.records import Floats, Ints

_FIRST_MEAN: Final = 0.5  # ρ before any outcome is known
_FIRST_SPREAD: Final = 0.25


class Outcomes(NamedTuple):
    """Outcomes that are known from a place in the log on: Y, D, w·a and w·b of the decisions they belong to."""

    at: Ints
    entry: Ints
    reward: Floats
    taken: Floats
    wa: Floats
    wb: Floats


_NONE: Final = Outcomes(
    np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0), np.empty(0)
)


@dataclass(frozen=True, eq=False)
class Past:
    """What earlier decisions leave to later ones.

    The number of decisions, the place up to which any of them had seen reports, the number of outcomes known by then,
    the sums of Y, D, (w·a)², w²·a·b and (w·b)² over those, and the outcomes that nobody had seen yet.
    """

    n_steps: int = 0
    seen: int = -1
    n_known: int = 0
    sums: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)
    unseen: Outcomes = _NONE


def lay_steps(past: Past, scores: PairScores, level: float) -> tuple[Floats, Past]:
    """A row for each decision, as the kernel wants it, and the past of the decisions that follow.

    Sums are added up in the order in which outcomes came to be known (those known at the same decision by their
    place in the log, then by decision), so that it does not matter how decisions are cut into calls; a batch must be
    whole.
    """
    n = len(scores)
    end = batch_ends(scores.batch_end)
    # Places of later decisions are not smaller, up to decisions made side by side: what one had seen, later ones use.
    seen = np.maximum.accumulate(np.concatenate([[past.seen], scores.seen]))
    known = np.flatnonzero(scores.is_known)
    at = np.concatenate([past.unseen.at, scores.known_at[known]])
    entry = np.concatenate([past.unseen.entry, scores.entry[known]])
    after = np.concatenate([np.zeros(len(past.unseen.at), np.int64), end[known]])
    first_step = np.maximum(after, np.searchsorted(seen[1:], at))
    order = np.lexsort((entry, at, first_step))
    n_new = np.searchsorted(first_step[order], np.arange(n + 1), side="right")  # known at each step, of these
    n_new[n] = np.searchsorted(first_step[order], n)  # what the last one had seen: the past of the next
    reward = np.concatenate([past.unseen.reward, scores.reward[known]])
    taken = np.concatenate([past.unseen.taken, scores.taken[known]])
    n_known = past.n_known + n_new
    total_reward = _running(past.sums[0], reward[order])[n_new]
    total_taken = _running(past.sums[1], taken[order])[n_new]
    divisor = np.maximum(n_known[:n], 1)
    mean_reward = np.where(n_known[:n] > 0, total_reward[:n] / divisor, _FIRST_MEAN)
    mean_taken = total_taken[:n] / divisor

    steps = np.empty((n, COLUMNS))
    # A part that is not known may be 0 or 1: the ends of w·a and w·b.
    steps[:, WA_LOW], steps[:, WA_HIGH] = _ends(scores.weight, scores.reward, mean_reward)
    steps[:, WB_LOW], steps[:, WB_HIGH] = _ends(scores.weight, scores.taken, mean_taken)
    wa = np.concatenate([past.unseen.wa, steps[known, WA_LOW]])
    wb = np.concatenate([past.unseen.wb, steps[known, WB_LOW]])
    aa, ab, bb = (
        _running(start, (one * other)[order])[n_new]
        for start, one, other in zip(past.sums[2:], (wa, wa, wb), (wa, wb, wb), strict=True)
    )
    number = past.n_steps + 1.0 + batch_starts(scores.batch_end)
    steps[:, ENTRY], steps[:, LAST] = scores.batch_end, end == np.arange(1, n + 1)
    steps[:, SPREAD_0], steps[:, SPREAD_1], steps[:, SPREAD_2] = _FIRST_SPREAD + aa[:n], -2.0 * ab[:n], bb[:n]
    steps[:, RATE] = 2.0 * math.log(2.0 / (1.0 - level)) * (1.0 + n_known[:n]) / (number * np.log1p(number))
    steps[:, CAP] = 0.5 / scores.largest
    sums = tuple(float(column[n]) for column in (total_reward, total_taken, aa, ab, bb))
    left = order[n_new[n] :]
    unseen = Outcomes(at[left], entry[left], reward[left], taken[left], wa[left], wb[left])
    return steps, Past(past.n_steps + n, int(seen[n]), int(n_known[n]), sums, unseen)


def _running(start: float, values: Floats) -> Floats:
    """The sum before the first, after the first, after the second, …, each from the one before."""
    return np.cumsum(np.concatenate([[start], values]))


def _ends(weight: Floats, value: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """The least and the most that w·(value - mean) can be, where a value that is not known is 0 or 1."""
    one = weight * (np.where(np.isnan(value), 0.0, value) - mean)
    other = weight * (np.where(np.isnan(value), 1.0, value) - mean)
    return np.minimum(one, other), np.maximum(one, other)
