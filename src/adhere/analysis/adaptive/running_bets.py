"""Bets against every effect between two arms, laid and played as records come.

With Ȳ and D̄ the means of Y and D over the outcomes known when decision s was made (½ and 0 before the first),

    g_s(θ) = w_s·(a_s - θ·b_s),    a_s = Y_s - Ȳ_s,    b_s = D_s - D̄_s

and the spread (¼ + Σ g_t(θ)²) over those outcomes is a polynomial in θ of degree two. So a few numbers for each
decision are all that the loop over effects needs. Decisions of a batch, whose order is not known, use what was known
before the batch, and s is that of its first.
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
    """State that earlier decisions leave to later ones.

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


_PIECE = 2**16  # decisions whose rows are in memory at a time, or a few more to the end of a batch


_CHECKPOINT_EVERY = 4096  # decisions, of all arms


class _Checkpoint(NamedTuple):
    """The wealth after so many decisions, of all arms, with what was known of them then."""

    n_entries: int
    wealth: Wealth
    past: Past


class RunningBets:
    """The wealth up to the first pending outcome, and the decisions from there on.

    Records come piece by piece (`add`, `report`), or whole, again and again, each time with what has changed
    (`revise`); not both ways in turn.
    """

    def __init__(self, treatment: int, control: int, view: View, level: float, n_grid: int) -> None:
        self._treatment, self._control, self._view, self._level = treatment, control, view, level
        self._settled = Wealth(n_grid + 1 - n_grid % 2)
        self._past = Past()
        self._open: PairScores | None = None
        self._is_played = bytearray()  # of every decision, whether it is one between the two arms
        self._has_places = False
        self._checkpoints = [_Checkpoint(0, self._settled.copy(), self._past)]
        self._forget_description()

    def _forget_description(self) -> None:
        self.n_entries = 0  # decisions, of all arms
        self.n_refused = 0  # those whose probabilities were not logged or were estimated
        self.n_took_neither = 0
        self.n_imputed = 0
        self.information = 0.0  # Σ 4·π_i·π_j / (π_i + π_j)²: patients allocated half and half who tell as much
        self.smallest = 1.0  # probability of one of the two arms, where neither had none
        self.n_certain = 0  # decisions at which one of the two arms had no probability
        self._n_closed_known = 0

    @property
    def n_used(self) -> int:
        """Decisions between the two arms whose outcome is known."""
        return self._n_closed_known + (0 if self._open is None else int(self._open.is_known.sum()))

    @property
    def n_pending(self) -> int:
        """Decisions between the two arms that enter at their worst case."""
        return self._past.n_steps + (0 if self._open is None else len(self._open)) - self.n_used

    @property
    def is_informative(self) -> bool:
        """Whether any decision that was left to chance has a known outcome."""
        return self.n_used > 0 and self.information > 0.0

    def add(self, records: Records) -> None:
        """Further decisions."""
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
        """Take all records again; the first `n_same` decisions, and what is known of them, are as the last time.

        Bets on those are not played again, but for some since the last checkpoint. Batches are not allowed for.
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
        """Count what a note has to say."""
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
            return  # what was taken changes nothing
        scores, number = self._open, entry + 1
        place = int(np.searchsorted(scores.entry, number))
        if place == len(scores) or scores.entry[place] != number:
            if self._is_played[entry]:
                raise InputError("entry", entry, "a decision whose outcome is not known yet")
            return  # another arm was chosen: it changes nothing
        if reward is not None:
            scores.reward[place] = reward
        if actual is not None and self._view is View.COMPLIERS:
            scores.taken[place] = actual == self._treatment
        if not np.isnan(scores.reward[place] + scores.taken[place]) and scores.known_at[place] == NEVER:
            scores.known_at[place] = self.n_entries if at is None else at
        self._settle()

    def _settle(self) -> None:
        """Play the decisions before the first whose outcome may still come, for good."""
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
        """Wealth of the bets, with every outcome that is not known at its worst case."""
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
