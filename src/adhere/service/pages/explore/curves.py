"""Surplus and regret of the policies along the trial."""

from __future__ import annotations

from adhere.exploration.results import Exploration
from adhere.service.pages.explore.chart import ExploreChart, Rows


def curves(found: Exploration | None, measure: str, title: str) -> ExploreChart:
    """A line for each policy along the trial, with its Monte Carlo interval."""
    values: Rows = []
    ends = []
    for one in found.policies if found else ():
        curve = one.surplus_curve if measure == "surplus" else one.regret_curve
        lows, highs = curve.low or curve.mean, curve.high or curve.mean
        values.append({"policy": one.title, "patients": 0, "mean": 0.0, "low": 0.0, "high": 0.0})
        for patients, mean, low, high in zip(found.t if found else (), curve.mean, lows, highs, strict=True):
            values.append({"policy": one.title, "patients": patients, "mean": mean, "low": low, "high": high})
        ends.append(f"{one.title} {curve.mean[-1]:.1f}")
    x = {"field": "patients", "type": "quantitative", "title": "patients", "axis": {"grid": False, "tickCount": 5}}
    colour = {"field": "policy", "type": "nominal", "sort": None, "legend": {"columns": 2, "symbolOpacity": 1}}
    y = {"type": "quantitative", "title": title}
    spec = {
        "height": 230,
        "encoding": {"x": x, "color": colour},
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.2},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {"mark": "line", "encoding": {"y": {**y, "field": "mean"}}},
        ],
    }
    label = f"{title.capitalize()} along the trial; at its end: {', '.join(ends)}."
    columns = {"policy": "policy", "patients": "patients", "mean": "mean", "low": "low", "high": "high"}
    return ExploreChart(spec, values, label, columns)
