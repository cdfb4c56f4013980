"""The charts of Explore in Vega-Lite: who the patients are, what protocols believe, how policies fare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from adhere.exploration.beliefs import Pair
from adhere.exploration.results import Exploration

Rows = list[dict[str, Any]]

_ARMS: Final = ("control", "treatment")
_ARM_COLOUR: Final = {
    "type": "nominal",
    "scale": {"domain": list(_ARMS), "range": "arms"},
    "legend": {"columns": 2, "symbolOpacity": 1},
}
_RECOMMENDING, _TAKING = "truth: recommending", "truth: taking"
_PROTOCOLS: Final = {"chosen": "Chosen", "actual": "Actual", "comply": "Comply"}
_LABELLED = 0.17  # a stratum with a smaller share is too narrow for its name


class ExploreChart(NamedTuple):
    """A chart: its specification without data, its data, what it shows in words, and the headings of its table."""

    spec: Mapping[str, Any]
    values: Rows
    label: str
    columns: Mapping[str, str]

    @property
    def filled(self) -> dict[str, Any]:
        """The specification with its data, by a name under which a script replaces them."""
        columns = {"usermeta": {"columns": list(self.columns)}}
        return {**self.spec, **columns, "data": {"name": "source_0", "values": self.values}}


def explore_charts(found: Exploration | None) -> dict[str, ExploreChart]:
    """All charts by name, without data if there is no exploration yet."""
    return {
        "population": _population(found),
        "beliefs": _beliefs(found),
        "surplus": _curves(found, "surplus", "surplus over randomisation"),
        "regret": _curves(found, "regret", "regret"),
    }


def _population(found: Exploration | None) -> ExploreChart:
    """A column for each stratum, as wide as its share; told control above, told treatment below."""
    groups = found.settings.groups if found else ()
    values: Rows = []
    left = 0.0
    for group in groups:
        for told, base in ((0, 1.15), (1, 0.0)):
            taken = group.takes[told]
            reward = group.rewards[taken]
            values.append(
                {
                    "stratum": group.name,
                    "share": round(group.share, 4),
                    "told": _ARMS[told],
                    "takes": _ARMS[taken],
                    "reward": round(reward, 4),
                    "left": left,
                    "right": left + group.share,
                    "middle": left + group.share / 2,
                    "bottom": base,
                    "level": base + reward,
                    "top": base + 1,
                    "name": group.name if told == 0 and group.share >= _LABELLED else "",
                }
            )
        left += group.share
    across = {
        "x": _plain("left", domain=[0, 1], format=".0%", title="share of the patients"),
        "x2": {"field": "right"},
    }
    up = _plain("bottom", domain=[0, 2.45]) | {
        "axis": {
            "values": [0.5, 1.65],
            "labelExpr": "datum.value < 1 ? 'told treatment' : 'told control'",
            "title": None,
            "grid": False,
            "ticks": False,
            "domain": False,
        }
    }
    colour = {"field": "takes", **_ARM_COLOUR}
    spec = {
        "height": 210,
        "layer": [
            {
                "mark": {"type": "rect", "opacity": 0.2},
                "encoding": {**across, "y": up, "y2": {"field": "top"}, "color": colour},
            },
            {"mark": "rect", "encoding": {**across, "y": up, "y2": {"field": "level"}, "color": colour}},
            {
                "mark": {"type": "text", "fontSize": 12, "baseline": "bottom", "dy": -3},
                "encoding": {
                    "x": {"field": "middle", "type": "quantitative"},
                    "y": _plain("top"),
                    "text": {"field": "name"},
                },
            },
        ],
    }
    shares = ", ".join(f"{group.share:.0%} {group.name}" for group in groups if group.share)
    label = (
        f"Who the patients are: {shares}. A column is a stratum; its colour is the arm taken, its height the reward."
    )
    columns = {"stratum": "stratum", "share": "share", "told": "told", "takes": "takes", "reward": "mean reward"}
    return ExploreChart(spec, values, label, columns)


def _beliefs(found: Exploration | None) -> ExploreChart:
    """A row for each truth and each protocol, with a dot for each arm."""
    values: Rows = []
    label = "What each protocol believes of both arms, against the truth."
    if found is not None:
        _add(values, _RECOMMENDING, "truth", found.truth.recommending)
        for one in found.beliefs:
            _add(values, _PROTOCOLS[one.protocol], "belief", one.means, one.lowest, one.highest)
        _add(values, _TAKING, "truth", found.truth.taking)
        told = [f"{row['who']}, {row['arm']}: {row['mean']:.3f}" for row in values if row["mean"] is not None]
        label = f"Mean rewards that are true and believed. {'; '.join(told)}."
    order = [_RECOMMENDING, *_PROTOCOLS.values(), _TAKING]
    who = _plain("place", domain=[len(order) - 0.5, -0.5]) | {
        "axis": {
            "values": list(range(len(order))),
            "labelExpr": f"{order}[datum.value]",
            "title": None,
            "labelLimit": 200,
            "ticks": False,
        }
    }
    scale = {"zero": False, "nice": True, "padding": 12}
    mean = {"field": "mean", "type": "quantitative", "title": "mean reward", "scale": scale, "axis": {"tickCount": 6}}
    colour = {"field": "arm", **_ARM_COLOUR}
    spec = {
        "height": 230,
        "encoding": {"y": who},
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 1.5, "color": "#888888"},
                "encoding": {"x": mean, "detail": {"field": "who"}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 7, "opacity": 0.35},
                "encoding": {"x": {**mean, "field": "lo"}, "x2": {"field": "hi"}, "color": colour},
            },
            {
                "mark": {"type": "point", "size": 130, "opacity": 1},
                "encoding": {
                    "x": mean,
                    "color": colour,
                    "shape": {
                        "field": "kind",
                        "type": "nominal",
                        "scale": {"domain": ["truth", "belief"], "range": ["diamond", "circle"]},
                        "legend": None,
                    },
                },
            },
        ],
    }
    columns = {"who": "who", "arm": "arm", "mean": "mean reward", "lo": "lowest", "hi": "highest"}
    return ExploreChart(spec, values, label, columns)


def _add(
    rows: Rows, who: str, kind: str, means: Pair, lowest: Pair = (None, None), highest: Pair = (None, None)
) -> None:
    """A row of the chart; its two dots are a little apart, so that both are seen where they are equal."""
    row = len({row["who"] for row in rows})
    for arm, mean, lo, hi, apart in zip(_ARMS, means, lowest, highest, (-0.11, 0.11), strict=True):
        ends = [mean if end is None else end for end in (lo, hi)]
        rows.append(
            {"who": who, "kind": kind, "arm": arm, "mean": mean, "lo": ends[0], "hi": ends[1], "place": row + apart}
        )


def _curves(found: Exploration | None, measure: str, title: str) -> ExploreChart:
    """A line for each policy along the trial, with its Monte Carlo interval."""
    values: Rows = []
    ends = []
    for one in found.policies if found else ():
        curve = one.surplus_curve if measure == "surplus" else one.regret_curve
        lows, highs = curve.lo or curve.mean, curve.hi or curve.mean
        values.append({"policy": one.title, "patients": 0, "mean": 0.0, "lo": 0.0, "hi": 0.0})
        for patients, mean, lo, hi in zip(found.after if found else (), curve.mean, lows, highs, strict=True):
            values.append({"policy": one.title, "patients": patients, "mean": mean, "lo": lo, "hi": hi})
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
                "encoding": {"y": {**y, "field": "lo"}, "y2": {"field": "hi"}},
            },
            {"mark": "line", "encoding": {"y": {**y, "field": "mean"}}},
        ],
    }
    label = f"{title.capitalize()} along the trial; at its end: {', '.join(ends)}."
    columns = {"policy": "policy", "patients": "patients", "mean": "mean", "lo": "low", "hi": "high"}
    return ExploreChart(spec, values, label, columns)


def _plain(field: str, **options: Any) -> dict[str, Any]:
    """A quantitative axis without rounding of its ends."""
    scale = {"nice": False, "zero": False} | ({"domain": options["domain"]} if "domain" in options else {})
    axis = (
        {"axis": {"format": options["format"], "title": options["title"], "grid": False}}
        if "format" in options
        else {}
    )
    return {"field": field, "type": "quantitative", "scale": scale, **axis}
