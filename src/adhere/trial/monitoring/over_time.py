"""How arms were allocated over time, in few points."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import numpy as np

from adhere.analysis.records import Floats, Records
from adhere_client.responses.monitor import AllocationOverTime

MAX_POINTS: Final = 200


def allocation_over_time(records: Records, at: Floats) -> AllocationOverTime:
    """The arms assigned until each of some times, and their probabilities since the time before.

    >>> chosen, half = np.array([0, 1, 1]), np.full((3, 2), 0.5)
    >>> records = Records("a", "b", ("old", "new"), chosen, chosen, np.ones(3), probabilities=half)
    >>> allocation_over_time(records, np.arange(3.0)).assigned
    {'old': [1, 1, 1], 'new': [0, 1, 2]}
    """
    n = len(records)
    if not n:
        return AllocationOverTime([], [], {arm: [] for arm in records.arms}, {arm: [] for arm in records.arms})
    times = np.unique(np.linspace(1, n, min(n, MAX_POINTS)).round().astype(np.int64))
    assigned, probability = {}, {}
    for number, arm in enumerate(records.arms):
        assigned[arm] = np.cumsum(records.chosen == number)[times - 1].tolist()
        probability[arm] = _mean_between(records, number, times)
    moments = [datetime.fromtimestamp(seconds, UTC) for seconds in at[times - 1].tolist()]
    return AllocationOverTime(times.tolist(), moments, assigned, probability)


def _mean_between(records: Records, arm: int, times: np.typing.NDArray[np.int64]) -> list[float | None]:
    if records.probabilities is None:
        return [None] * len(times)
    own = records.probabilities[:, arm]
    starts = np.concatenate([[0], times[:-1]])
    sums = np.add.reduceat(np.nan_to_num(own), starts)
    known = np.add.reduceat(~np.isnan(own), starts)
    return [float(total / count) if count else None for total, count in zip(sums, known, strict=True)]
