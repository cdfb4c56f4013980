"""How arms were allocated as patients came."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from adhere_client.responses.monitor import AllocationOverTime

_COLOURS = 7  # of the style sheet; beyond them, lines differ by their dashes too
_STEP = {"type": "line", "interpolate": "step-after"}


def allocation_chart(given: AllocationOverTime) -> dict[str, dict[str, Any]] | None:
    """Recommendations of each arm over time, and the probability that each had; nothing before the first."""
    if not given.t:
        return None
    enrolled = [
        {"time": at.isoformat(timespec="milliseconds"), "arm": arm, "recommended": n}
        for arm, counts in given.assigned.items()
        for at, n in zip(given.at, counts, strict=True)
    ]
    drawn = [
        {"recommendations": time, "arm": arm, "probability": share}
        for arm, shares in given.probability.items()
        for time, share in zip(given.t, shares, strict=True)
        if share is not None
    ]
    of_arm = {"field": "arm", "type": "nominal", "title": None, "sort": list(given.assigned)}
    series = {"color": of_arm, **({"strokeDash": of_arm} if len(given.assigned) > _COLOURS else {})}
    return {
        "enrolled": {
            "data": {"values": enrolled},
            "height": 180,
            "mark": _STEP,
            "encoding": {
                "x": {
                    "field": "time",
                    "type": "temporal",
                    "title": "when",
                    "axis": {"tickCount": 5, "labelOverlap": True, "format": _time_format(given.at)},
                },
                "y": {"field": "recommended", "type": "quantitative", "title": "recommended so far"},
                **series,
            },
        },
        "drawn": {
            "data": {"values": drawn},
            "height": 180,
            "mark": _STEP,
            "encoding": {
                "x": {"field": "recommendations", "type": "quantitative", "title": "recommendations"},
                "y": {
                    "field": "probability",
                    "type": "quantitative",
                    "title": "mean probability",
                    "scale": {"domain": [0, 1]},
                },
                **series,
            },
        },
    }


def _time_format(times: Sequence[datetime]) -> str:
    """How times are written on an axis: to the second of a rehearsal, to the day of a trial of months.

    >>> _time_format([datetime(2026, 3, 1, 9, 30), datetime(2026, 3, 1, 9, 31)])
    '%H:%M:%S'
    """
    span = times[-1] - times[0]
    return "%H:%M:%S" if span < timedelta(hours=1) else "%-d %b %H:%M" if span < timedelta(days=3) else "%-d %b"
