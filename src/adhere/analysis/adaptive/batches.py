"""Entries of which it is not known in which order they were decided: those of a batch stand side by side.

Bets on a batch use only what was known before it, and what they won is looked at after it. A product does not depend
on the order of its factors, so such bets are valid whatever the true order was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def batch_starts(batch: Ints) -> Ints:
    """For each entry the place of the first one of its batch.

    >>> batch_starts(np.array([4, 4, 7, 8, 8])).tolist()
    [0, 0, 2, 3, 3]
    """
    is_first = np.ones(len(batch), dtype=np.bool_)
    is_first[1:] = batch[1:] != batch[:-1]
    return np.maximum.accumulate(np.where(is_first, np.arange(len(batch)), 0))


def batch_ends(batch: Ints) -> Ints:
    """For each entry the place after the last one of its batch.

    >>> batch_ends(np.array([4, 4, 7, 8, 8])).tolist()
    [2, 2, 3, 5, 5]
    """
    return len(batch) - batch_starts(batch[::-1])[::-1]


def least_of_batch(batch: Ints, values: Ints) -> Ints:
    """For each entry the least value in its batch.

    >>> least_of_batch(np.array([4, 4, 7]), np.array([3, 1, 2])).tolist()
    [1, 1, 2]
    """
    starts = batch_starts(batch)
    first = np.unique(starts)
    return np.minimum.reduceat(values, first)[np.searchsorted(first, starts)] if len(values) else values
