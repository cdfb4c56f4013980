"""What the allocation gained over equal probabilities, as patients came."""

from __future__ import annotations

from typing import Any

from adhere_client.responses.monitor import SurplusOverTime

_COLOUR = "#009e73"


def surplus_chart(given: SurplusOverTime) -> dict[str, Any] | None:
    """The interval after every number of recommendations, and the estimate now; nothing where there is none."""
    if not given.t:
        return None
    values: list[dict[str, Any]] = [
        {"recommendations": time, "low": low, "high": high}
        for time, low, high in zip(given.t, given.low, given.high, strict=True)
    ]
    values[-1]["estimate"] = given.total.value
    x = {"field": "recommendations", "type": "quantitative", "title": "recommendations"}
    title = "outcomes gained"
    return {
        "data": {"values": values},
        "height": 180,
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.3, "color": _COLOUR},
                "encoding": {
                    "x": x,
                    "y": {"field": "low", "type": "quantitative", "title": title},
                    "y2": {"field": "high"},
                },
            },
            *(
                {
                    "mark": {"type": "line", "strokeWidth": 1, "color": _COLOUR},
                    "encoding": {"x": x, "y": {"field": end, "type": "quantitative", "title": title}},
                }
                for end in ("low", "high")
            ),
            {
                "transform": [{"filter": "isValid(datum.estimate)"}],
                "mark": {"type": "point", "size": 70},
                "encoding": {"x": x, "y": {"field": "estimate", "type": "quantitative", "title": title}},
            },
            {"mark": {"type": "rule", "strokeDash": [3, 3]}, "encoding": {"y": {"datum": 0}}},
        ],
    }
