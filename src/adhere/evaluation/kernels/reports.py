"""Reports that are under way, in the order in which they will come: by day, then by patient.

They lie in a heap, of which each lane has a column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere.compilation import inline, no_inline


@no_inline
def push_report(room: Any, lane: Any, n_pending: Any, day: float, report: Any) -> None:
    """Put a report into a heap of n."""
    place = np.int64(n_pending)
    while place > 0 and _comes_before(day, report, room, (place - 1) // 2, lane):
        above = (place - 1) // 2
        room.due[place, lane], room.reports[place, lane] = room.due[above, lane], room.reports[above, lane]
        place = above
    room.due[place, lane], room.reports[place, lane] = day, report


@no_inline
def pop_report(room: Any, lane: Any, n_pending: Any) -> Any:
    """Take the first report out of a heap of n, and return it."""
    first, last = np.int64(room.reports[0, lane]), np.int64(n_pending - 1)
    day, report = room.due[last, lane], np.int64(room.reports[last, lane])
    place, below = np.int64(0), np.int64(1)
    while below < last:
        if below + 1 < last:
            other = np.int64(room.reports[below + 1, lane])
            below += 1 if _comes_before(room.due[below + 1, lane], other, room, below, lane) else 0
        if _comes_before(day, report, room, below, lane):
            break
        room.due[place, lane], room.reports[place, lane] = room.due[below, lane], room.reports[below, lane]
        place, below = below, 2 * below + 1
    room.due[place, lane], room.reports[place, lane] = day, report
    return first


@inline
def _comes_before(day: float, report: Any, room: Any, place: Any, lane: Any) -> Any:
    """Whether a report comes before another in the heap."""
    due = room.due[place, lane]
    return day < due or (day == due and report < room.reports[place, lane])
