"""Bets against every effect between two arms, updated as records arrive.

Let Ȳ_s and D̄_s be the means of Y and D over the outcomes known at decision s (½ and 0 before the first outcome).
Then

    g_s(θ) = w_s·(a_s - θ·b_s),    a_s = Y_s - Ȳ_s,    b_s = D_s - D̄_s

and the spread (¼ + Σ g_t(θ)²) over these outcomes is a polynomial of degree two in θ. Therefore the loop over effects
needs only a few numbers per decision. The order of decisions within a batch is unknown, so all of them use the
outcomes known before the batch, and s is the first decision of the batch.
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from adhere.analysis.adaptive.scores import PairScores, batch_ends, batch_starts, pair_scores
from adhere.analysis.adaptive.wealth import (
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
    Wealth,
)
from adhere.analysis.estimates import View
from adhere.analysis.records import NEVER, Floats, Ints, Records
from adhere.errors import InputError
from adhere.protocols import TOOK_NOTHING, TOOK_OTHER

_FIRST_MEAN: Final = 0.5  # mean of Y before any outcome is known
_FIRST_SPREAD: Final = 0.25


class Outcomes(NamedTuple):
    """Known outcomes with the log positions at which they became known, and Y, D, w·a and w·b of their decisions."""

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
    """State that carries over from earlier decisions to later ones.

    It has the number of earlier decisions, the log position up to which reports had been seen, and the number of
    outcomes known by then. It also has the sums of Y, D, (w·a)², w²·a·b and (w·b)² over these outcomes, and the
    outcomes not yet seen.
    """

    n_steps: int = 0
    seen: int = -1
    n_known: int = 0
    sums: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)
    unseen: Outcomes = _NONE


def lay_steps(past: Past, scores: PairScores, level: float) -> tuple[Floats, Past]:
    """Return a row of kernel input for each decision, and the past of the decisions that follow.

    Sums are accumulated in the order in which outcomes became known; ties are broken by log position, then by
    decision. Therefore the result does not depend on how decisions are split into calls. A batch must not be split.
    """
    n = len(scores)
    end = batch_ends(scores.batch_end)
    # Positions do not decrease, except for concurrent decisions: later decisions use what an earlier one had seen.
    seen = np.maximum.accumulate(np.concatenate([[past.seen], scores.seen]))
    known = np.flatnonzero(scores.is_known)
    at = np.concatenate([past.unseen.at, scores.known_at[known]])
    entry = np.concatenate([past.unseen.entry, scores.entry[known]])
    after = np.concatenate([np.zeros(len(past.unseen.at), np.int64), end[known]])
    first_step = np.maximum(after, np.searchsorted(seen[1:], at))
    order = np.lexsort((entry, at, first_step))
    n_new = np.searchsorted(first_step[order], np.arange(n + 1), side="right")  # how many of these are known at each
    # step
    n_new[n] = np.searchsorted(first_step[order], n)  # outcomes seen by the last decision: past of the next
    reward = np.concatenate([past.unseen.reward, scores.reward[known]])
    taken = np.concatenate([past.unseen.taken, scores.taken[known]])
    n_known = past.n_known + n_new
    total_reward = _running(past.sums[0], reward[order])[n_new]
    total_taken = _running(past.sums[1], taken[order])[n_new]
    divisor = np.maximum(n_known[:n], 1)
    mean_reward = np.where(n_known[:n] > 0, total_reward[:n] / divisor, _FIRST_MEAN)
    mean_taken = total_taken[:n] / divisor

    steps = np.empty((n, COLUMNS))
    # An unknown part may be 0 or 1, which gives the limits of w·a and w·b.
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
    """Return the running sums: before the first value, after the first, after the second, and so on."""
    return np.cumsum(np.concatenate([[start], values]))


def _ends(weight: Floats, value: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and largest possible w·(value - mean), where an unknown value may be 0 or 1."""
    one = weight * (np.where(np.isnan(value), 0.0, value) - mean)
    other = weight * (np.where(np.isnan(value), 1.0, value) - mean)
    return np.minimum(one, other), np.maximum(one, other)


_PIECE = 2**16  # number of decisions with rows in memory at a time, plus the rest of a batch


_CHECKPOINT_EVERY = 4096  # decisions, of all arms


class _Checkpoint(NamedTuple):
    """Wealth after `n_entries` decisions of all arms, with what was known at that time."""

    n_entries: int
    wealth: Wealth
    past: Past


class RunningBets:
    """Wealth of the bets up to the first pending outcome, and the decisions from this outcome on.

    Either add records and reports piece by piece (`add`, `report`), or replace all records each time (`revise`). Do
    not mix the two ways.
    """

    def __init__(self, treatment: int, control: int, view: View, level: float, n_grid: int) -> None:
        self._treatment, self._control, self._view, self._level = treatment, control, view, level
        self._settled = Wealth(n_grid + 1 - n_grid % 2)
        self._past = Past()
        self._open: PairScores | None = None
        self._is_played = bytearray()  # for every decision, whether it is between the two arms
        self._has_places = False
        self._checkpoints = [_Checkpoint(0, self._settled.copy(), self._past)]
        self._forget_description()

    def _forget_description(self) -> None:
        self.n_entries = 0  # decisions, of all arms
        self.n_refused = 0  # decisions with missing or estimated probabilities
        self.n_took_neither = 0
        self.n_imputed = 0
        self.information = 0.0  # Σ 4·π_i·π_j / (π_i + π_j)²: equivalent number of patients allocated half and half
        self.smallest = 1.0  # smallest probability of the two arms, over decisions with both positive
        self.n_certain = 0  # decisions at which one of the two arms had probability 0
        self._n_closed_known = 0

    @property
    def n_used(self) -> int:
        """Number of decisions between the two arms with a known outcome."""
        return self._n_closed_known + (0 if self._open is None else int(self._open.is_known.sum()))

    @property
    def n_pending(self) -> int:
        """Number of decisions between the two arms with an unknown outcome, which enters at its worst case."""
        return self._past.n_steps + (0 if self._open is None else len(self._open)) - self.n_used

    @property
    def is_informative(self) -> bool:
        """Return whether any randomised decision has a known outcome."""
        return self.n_used > 0 and self.information > 0.0

    def add(self, records: Records) -> None:
        """Add further decisions."""
        scores = pair_scores(records, self._treatment, self._control, self._view, self.n_entries)
        self._has_places = records.seen is not None and records.reward_at is not None
        is_played = np.zeros(len(records), dtype=np.uint8)
        is_played[scores.entry - self.n_entries - 1] = 1
        self._is_played += is_played.tobytes()
        self.n_entries += len(records)
        self._describe(records, scores)
        self._open = scores if self._open is None else self._open.followed_by(scores)
        self._settle()

    def revise(self, records: Records, n_same: int) -> None:
        """Replace all records; the first `n_same` decisions and their reports are the same as at the last call.

        Bets on these decisions are not computed again, except bets since the last checkpoint. Batches are not
        supported.
        """
        scores = pair_scores(records, self._treatment, self._control, self._view)
        self._forget_description()
        self.n_entries = len(records)
        self._describe(records, scores)
        kept = [one for one in self._checkpoints if one.n_entries <= min(n_same, len(records))]
        for end in range(kept[-1].n_entries + _CHECKPOINT_EVERY, len(records) + 1, _CHECKPOINT_EVERY):
            begin, wealth, self._past = kept[-1]
            wealth = wealth.copy()
            first, last = np.searchsorted(scores.entry, (begin, end), side="right")
            kept.append(_Checkpoint(end, wealth, self._play(wealth, scores[first:last])))
        self._checkpoints = kept
        begin, self._settled, self._past = kept[-1]
        n_closed = int(np.searchsorted(scores.entry, begin, side="right"))
        self._n_closed_known, self._open = int(scores.is_known[:n_closed].sum()), scores[n_closed:]

    def _describe(self, records: Records, scores: PairScores) -> None:
        """Count the decisions that the note of the sequence mentions."""
        assert records.probabilities is not None
        exact = records.is_exact
        of_pair = (records.chosen == self._treatment) | (records.chosen == self._control)
        used = of_pair & exact
        self.n_refused += int(np.sum(of_pair & ~exact))
        if self._view is View.COMPLIERS:
            self.n_took_neither += int(np.sum(np.isin(records.actual[used], (TOOK_NOTHING, TOOK_OTHER))))
        for imputed in (records.imputed_reward, records.imputed_actual if self._view is View.COMPLIERS else None):
            self.n_imputed += 0 if imputed is None else int(np.sum(imputed[used]))
        self.information += float(4.0 * np.sum(scores.largest * (1.0 - scores.largest)))
        both = records.probabilities[used][:, [self._treatment, self._control]]
        is_certain = (both == 0.0).any(axis=1)
        self.n_certain += int(is_certain.sum())
        self.smallest = min(self.smallest, float(both[~is_certain].min(initial=1.0)))

    def report(self, entry: int, reward: float | None, actual: int | None, at: int | None) -> None:
        """Add a report that came later for an earlier decision."""
        if not 0 <= entry < self.n_entries:
            raise InputError("entry", entry, f"the number of an earlier decision, from 0 to {self.n_entries - 1}")
        if self._has_places and at is None:
            raise InputError("at", at, "the place in the log from which the report counts")
        assert self._open is not None
        if self._view is View.INTENTION_TO_TREAT and reward is None:
            return  # the treatment taken has no effect here
        scores, number = self._open, entry + 1
        place = int(np.searchsorted(scores.entry, number))
        if place == len(scores) or scores.entry[place] != number:
            if self._is_played[entry]:
                raise InputError("entry", entry, "a decision whose outcome is not known yet")
            return  # another arm was chosen, so the report has no effect
        if reward is not None:
            scores.reward[place] = reward
        if actual is not None and self._view is View.COMPLIERS:
            scores.taken[place] = actual == self._treatment
        if not np.isnan(scores.reward[place] + scores.taken[place]) and scores.known_at[place] == NEVER:
            scores.known_at[place] = self.n_entries if at is None else at
        self._settle()

    def _settle(self) -> None:
        """Settle the bets on all decisions before the first decision with an outcome that may still come."""
        assert self._open is not None
        may_come = ~(self._open.is_known | self._open.final)
        n = len(self._open)
        if may_come.any():  # a batch is played as a whole
            n = int(batch_starts(self._open.batch_end)[may_come.argmax()])
        if n == 0:
            return
        played, self._open = self._open[:n], self._open[n:]
        self._past = self._play(self._settled, played)
        self._n_closed_known += int(played.is_known.sum())

    def wealth(self) -> Wealth:
        """Return the wealth of the bets, with every unknown outcome at its worst case."""
        wealth = self._settled.copy()
        if self._open is not None:
            self._play(wealth, self._open)
        return wealth

    def _play(self, wealth: Wealth, scores: PairScores) -> Past:
        past, ends, start = self._past, batch_ends(scores.batch_end), 0
        while start < len(scores):
            end = int(ends[min(start + _PIECE, len(scores)) - 1])
            n_before = past.n_steps
            steps, past = lay_steps(past, scores[start:end], self._level)
            wealth.follow(steps, n_before, self._level)
            start = end
        return past
