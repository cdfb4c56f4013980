"""Decisions between two arms, what was known at each decision, and batches with unknown order.

Bets on a batch use only what was known before the batch, and wealth is looked at only after the batch. A product does
not depend on the order of its factors, so these bets are valid for any true order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from adhere.analysis.estimates import View
from adhere.analysis.records import NEVER, NOT_KNOWN, Bools, Floats, Ints, Records


def batch_starts(batch: Ints) -> Ints:
    """Return, for each entry, the index of the first entry of its batch.

    >>> batch_starts(np.array([4, 4, 7, 8, 8])).tolist()
    [0, 0, 2, 3, 3]
    """
    is_first = np.ones(len(batch), dtype=np.bool_)
    is_first[1:] = batch[1:] != batch[:-1]
    return np.maximum.accumulate(np.where(is_first, np.arange(len(batch)), 0))


def batch_ends(batch: Ints) -> Ints:
    """Return, for each entry, the index after the last entry of its batch.

    >>> batch_ends(np.array([4, 4, 7, 8, 8])).tolist()
    [2, 2, 3, 5, 5]
    """
    return len(batch) - batch_starts(batch[::-1])[::-1]


def least_of_batch(batch: Ints, values: Ints) -> Ints:
    """Return, for each entry, the smallest value in its batch.

    >>> least_of_batch(np.array([4, 4, 7]), np.array([3, 1, 2])).tolist()
    [1, 1, 2]
    """
    starts = batch_starts(batch)
    first = np.unique(starts)
    return np.minimum.reduceat(values, first)[np.searchsorted(first, starts)] if len(values) else values


def known_places(records: Records, entries: Ints, view: View, n_before: int = 0) -> tuple[Ints, Ints]:
    """Return the log position that each entry had seen, and the position from which its own report is known.

    `n_before` decisions came before these. For compliers, both parts of a report are needed. If the records have no
    log positions, an outcome is known before the next decision. Decisions of a batch had seen no more than the first
    decision of the batch.
    """
    number = entries + n_before + 1
    if records.seen is None or records.reward_at is None:
        seen = number - 1 if records.batch is None else (batch_starts(records.batch) + n_before)[entries]
        return seen, number
    all_seen = records.seen if records.batch is None else least_of_batch(records.batch, records.seen)
    known_at = records.reward_at[entries]
    if view is View.COMPLIERS and records.actual_at is not None:
        known_at = np.maximum(known_at, records.actual_at[entries])
    return all_seen[entries], known_at


@dataclass(frozen=True, eq=False)
class PairScores:
    """Decisions for one of two arms i and j, in order; decisions for other arms are not bet on.

    With Z the arm chosen and π the probabilities, `weight` is w = (1{Z=i}·π_j - 1{Z=j}·π_i) / (π_i + π_j). With two
    arms this is Z - π. `largest` is the largest |w| possible at that decision. `reward` and `taken` (Y and D) are NaN
    if unknown; `final` marks decisions with no more reports to come. `known_at` is the log position from which both
    are known, `seen` the position up to which reports were known at the decision. `entry` counts all decisions, from
    1. `batch_end` is the last entry of the same batch, or the entry itself if the order is known.
    """

    entry: Ints
    batch_end: Ints
    weight: Floats
    largest: Floats
    reward: Floats
    taken: Floats
    final: Bools
    known_at: Ints
    seen: Ints

    def __len__(self) -> int:
        return len(self.entry)

    def __getitem__(self, kept: slice | Bools) -> PairScores:
        return PairScores(*(getattr(self, one.name)[kept] for one in fields(self)))

    def followed_by(self, others: PairScores) -> PairScores:
        """Return these decisions followed by later ones."""
        return PairScores(
            *(np.concatenate([getattr(self, one.name), getattr(others, one.name)]) for one in fields(self))
        )

    @property
    def is_known(self) -> Bools:
        """Return, for each decision, whether everything that its score needs is known."""
        return ~(np.isnan(self.reward) | np.isnan(self.taken))


def pair_scores(records: Records, treatment: int, control: int, view: View, n_before: int = 0) -> PairScores:
    """Return the usable decisions for one of two arms; `n_before` decisions came before these records.

    D is whether the treatment was chosen (intention-to-treat) or whether it was taken (compliers). If the records
    have no log positions, an outcome is known before the next decision or the next batch.
    """
    assert records.probabilities is not None
    of_pair = records.is_one_of(treatment, control)
    entries = np.flatnonzero(of_pair & records.is_exact)
    is_treated = records.chosen[entries] == treatment
    first, second = records.probabilities[entries, treatment], records.probabilities[entries, control]
    either = first + second
    possible = either > 0.0  # otherwise the arm chosen had probability 0, and there is no bet
    either = np.where(possible, either, 1.0)
    reward, actual = records.reward[entries], records.actual[entries]
    if view is View.INTENTION_TO_TREAT:
        taken = is_treated.astype(np.float64)
    else:
        taken = np.where(actual == NOT_KNOWN, np.nan, actual == treatment)
    missing = np.isnan(reward) | np.isnan(taken)
    number = entries + n_before + 1
    seen, known_at = known_places(records, entries, view, n_before)
    end = number if records.batch is None else (batch_ends(records.batch) + n_before)[entries]
    return PairScores(
        entry=number,
        batch_end=end,
        weight=np.where(possible, np.where(is_treated, second, -first) / either, 0.0),
        largest=np.where(possible, np.maximum(first, second) / either, 1.0),
        reward=reward,
        taken=taken,
        final=np.zeros(len(entries), dtype=np.bool_) if records.lost is None else records.lost[entries],
        known_at=np.where(missing, NEVER, known_at),
        seen=seen,
    )
