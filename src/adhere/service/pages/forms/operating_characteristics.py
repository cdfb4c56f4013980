"""The operating characteristics of a simulated design in a compact table and a chart."""

from __future__ import annotations

from typing import Any, NamedTuple

from adhere_client.responses.simulations import Characteristic, SimulatedScenario, Simulation


class Line(NamedTuple):
    """A scenario: how often an effect is claimed, and one in the wrong direction; patients, days, who gets what."""

    scenario: str
    is_null: bool
    claim: str
    wrong: str
    patients: str
    days: str
    better: str


def lines_of(simulation: Simulation) -> list[Line]:
    """A line for each scenario."""
    return [_line(scenario) for scenario in simulation.scenarios or []]


def claims_chart(simulation: Simulation) -> dict[str, Any] | None:
    """The probability of a claim by effect: type I error where it is 0, power elsewhere; None where none is made."""
    values = []
    scenarios = simulation.scenarios or []
    confounding = {(one.compliance, one.confounding) for one in scenarios}
    baselines = {one.baseline for one in scenarios}
    for scenario in scenarios:
        found = _claim(scenario)
        if (
            found is not None
            and found.mean is not None
            and scenario.effect is not None
            and scenario.null != "average"
        ):
            share = 1.0 if scenario.compliance is None else scenario.compliance
            among = f"{100 * share:g}% comply"
            if sum(compliance == scenario.compliance for compliance, _ in confounding) > 1:
                among += f", confounding {scenario.confounding or 0.0:g}"
            if len(baselines) > 1 and scenario.baseline is not None:
                among += f", baseline {scenario.baseline:g}"
            values.append(
                {"effect": scenario.effect, "among": among, "claim": found.mean, "low": found.low, "high": found.high}
            )
    if len({value["effect"] for value in values}) < 2:
        return None
    title = "effect of taking the treatment on the mean outcome"
    x = {"field": "effect", "type": "quantitative", "title": title, "axis": {"tickCount": 5}}
    y = {"field": "claim", "type": "quantitative", "title": "probability of a claim", "axis": {"format": ".0%"}}
    colour = {"field": "among", "type": "nominal", "title": None, "legend": {"labelLimit": 300}}
    return {
        "height": 220,
        "data": {"values": values},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [4, 4]}, "encoding": {"y": {"datum": 0.05}}},
            {
                "mark": {"type": "line", "point": True},
                "encoding": {"x": x, "y": {**y, "scale": {"domain": [0, 1]}}, "color": colour},
            },
            {
                "mark": "rule",
                "encoding": {
                    "x": x,
                    "y": {"field": "low", "type": "quantitative", "title": ""},
                    "y2": {"field": "high"},
                    "color": colour,
                },
            },
        ],
    }


def _line(scenario: SimulatedScenario) -> Line:
    worse = _find(scenario, "recommended_inferior")
    better = None if worse is None or worse.mean is None else (1.0 - worse.mean, worse.se)
    return Line(
        scenario.name,
        scenario.null is not None,
        _percent(_claim(scenario)),
        _percent(_find(scenario, "wrong_claim")),
        _number(_find(scenario, "sample_size")),
        _number(_find(scenario, "duration")),
        "–" if better is None else _in_percent(*better),
    )


def _claim(scenario: SimulatedScenario) -> Characteristic | None:
    """Power where an arm is better than another, else the type I error."""
    found = (_find(scenario, name) for name in ("power", "type_one"))
    return next((one for one in found if one is not None and one.mean is not None), None)


def _find(scenario: SimulatedScenario, name: str) -> Characteristic | None:
    return next((one for one in scenario.characteristics if one.name == name and one.arm is None), None)


def _percent(one: Characteristic | None) -> str:
    return "–" if one is None or one.mean is None else _in_percent(one.mean, one.se)


def _in_percent(share: float, error: float | None) -> str:
    return f"{100 * share:.1f}%" + ("" if error is None else f" ({100 * error:.1f})")


def _number(one: Characteristic | None) -> str:
    if one is None or one.mean is None:
        return "–"
    return f"{one.mean:,.0f}" + ("" if one.se is None else f" ({one.se:.1f})")
