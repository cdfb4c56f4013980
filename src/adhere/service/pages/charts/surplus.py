"""What the allocation gained over equal probabilities, as patients came."""

from __future__ import annotations

from typing import Any

from adhere.trial.monitoring.monitor import SurplusOverTime


def surplus_chart(given: SurplusOverTime) -> dict[str, Any] | None:
    """The interval after every number of recommendations; nothing where there is none."""
    if not given.times:
        return None
    values = [
        {"recommendations": time, "low": low, "high": high}
        for time, low, high in zip(given.times, given.lows, given.highs, strict=True)
    ]
    return {
        "data": {"values": values},
        "height": 180,
        "layer": [
            {
                "mark": {
                    "type": "area",
                    "opacity": 0.3,
                    "color": "#009e73",
                    "line": {"color": "#009e73", "strokeWidth": 1},
                },
                "encoding": {
                    "x": {"field": "recommendations", "type": "quantitative", "title": "recommendations"},
                    "y": {"field": "low", "type": "quantitative", "title": "outcomes gained"},
                    "y2": {"field": "high"},
                },
            },
            {"mark": {"type": "rule", "strokeDash": [3, 3]}, "encoding": {"y": {"datum": 0}}},
        ],
    }
