"""Effects with their intervals: now, and after every number of recommendations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adhere_client.responses.monitor import Effect

_X = {"title": "difference in mean outcome", "grid": True}


def name_of(effect: Effect, *, with_arms: bool) -> str:
    """What a row is called; the arms only where there are several treatments."""
    return f"{effect.view}, {effect.treatment} − {effect.control}" if with_arms else effect.view


def forest_chart(effects: Sequence[Effect]) -> dict[str, Any] | None:
    """A row for each effect; those that promise nothing under adaptive allocation are pale."""
    with_arms = len({effect.treatment for effect in effects}) > 1
    values = [
        {
            "effect": name_of(effect, with_arms=with_arms),
            "estimate": effect.estimate.value,
            "low": effect.estimate.low,
            "high": effect.estimate.high,
            "interval": "any-time valid" if effect.is_any_time_valid else "promises nothing",
        }
        for effect in effects
        if effect.estimate.low is not None and effect.estimate.high is not None
    ]
    if not values:
        return None
    y = {
        "field": "effect",
        "type": "nominal",
        "sort": [row["effect"] for row in values],
        "title": None,
        "axis": {"labelLimit": 220, "ticks": False},
    }
    is_valid = {"test": "datum.interval === 'any-time valid'", "value": 1}
    line = {"type": "bar", "height": 3}  # in the colour of bars, which follows the scheme
    return {
        "data": {"values": values},
        "height": 30 * len(values),
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [3, 3]}, "encoding": {"x": {"datum": 0}}},
            {
                "mark": line,
                "encoding": {
                    "x": {"field": "low", "type": "quantitative", "axis": _X},
                    "x2": {"field": "high"},
                    "y": y,
                    "opacity": {"condition": is_valid, "value": 0.45},
                },
            },
            {
                "mark": {"type": "point", "size": 70},
                "encoding": {"x": {"field": "estimate", "type": "quantitative"}, "y": y},
            },
        ],
    }


def bands_chart(effects: Sequence[Effect]) -> dict[str, Any] | None:
    """The any-time valid sets after every number of recommendations."""
    shown = [effect for effect in effects if effect.t]
    if not shown:
        return None
    with_arms = len({effect.treatment for effect in shown}) > 1
    names = [name_of(effect, with_arms=with_arms) for effect in shown]
    values = [
        {"recommendations": time, "effect": name, "low": low, "high": high}
        for name, effect in zip(names, shown, strict=True)
        for time, low, high in zip(effect.t, effect.low, effect.high, strict=True)
    ]
    x = {"field": "recommendations", "type": "quantitative", "title": "recommendations"}
    color = {"field": "effect", "type": "nominal", "title": None, "sort": names}
    title = {"title": "difference in mean outcome"}
    edge = {"type": "line", "interpolate": "step-after", "strokeWidth": 1}
    return {
        "data": {"values": values},
        "height": 220,
        "layer": [
            {
                "mark": {"type": "area", "opacity": min(0.2, 1 / len(names)), "interpolate": "step-after"},
                "encoding": {
                    "x": x,
                    "y": {"field": "low", "type": "quantitative", **title},
                    "y2": {"field": "high"},
                    "color": color,
                },
            },
            *(
                {
                    "mark": edge,
                    "encoding": {"x": x, "y": {"field": end, "type": "quantitative", **title}, "color": color},
                }
                for end in ("low", "high")
            ),
            {"mark": {"type": "rule", "strokeDash": [3, 3]}, "encoding": {"y": {"datum": 0}}},
        ],
    }
