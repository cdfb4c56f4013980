"""What each protocol believes of both arms, against the truth."""

from __future__ import annotations

from typing import Final

from adhere.exploration.beliefs import Pair
from adhere.exploration.results import Exploration
from adhere.service.pages.explore.chart import ARM_COLOUR, ARMS, ExploreChart, Rows, plain

_RECOMMENDING, _TAKING = "truth: recommending", "truth: taking"
_PROTOCOLS: Final = {"chosen": "Chosen", "actual": "Actual", "comply": "Comply"}


def beliefs(found: Exploration | None) -> ExploreChart:
    """A row for each truth and each protocol, with a dot for each arm."""
    values: Rows = []
    label = "What each protocol believes of both arms, against the truth."
    if found is not None:
        _add(values, _RECOMMENDING, "truth", found.truth.mean_given_chosen)
        for one in found.beliefs:
            _add(values, _PROTOCOLS[one.protocol], "belief", one.means, one.lowest, one.highest)
        _add(values, _TAKING, "truth", found.truth.mean_if_taken)
        told = [f"{row['who']}, {row['arm']}: {row['mean']:.3f}" for row in values if row["mean"] is not None]
        label = f"Mean rewards that are true and believed. {'; '.join(told)}."
    order = [_RECOMMENDING, *_PROTOCOLS.values(), _TAKING]
    who = plain("place", domain=[len(order) - 0.5, -0.5]) | {
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
    colour = {"field": "arm", **ARM_COLOUR}
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
                "encoding": {"x": {**mean, "field": "low"}, "x2": {"field": "high"}, "color": colour},
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
    columns = {"who": "who", "arm": "arm", "mean": "mean reward", "low": "lowest", "high": "highest"}
    return ExploreChart(spec, values, label, columns)


def _add(
    rows: Rows, who: str, kind: str, means: Pair, lowest: Pair = (None, None), highest: Pair = (None, None)
) -> None:
    """A row of the chart; its two dots are a little apart, so that both are seen where they are equal."""
    row = len({row["who"] for row in rows})
    for arm, mean, low, high, apart in zip(ARMS, means, lowest, highest, (-0.11, 0.11), strict=True):
        ends = [mean if end is None else end for end in (low, high)]
        rows.append(
            {
                "who": who,
                "kind": kind,
                "arm": arm,
                "mean": mean,
                "low": ends[0],
                "high": ends[1],
                "place": row + apart,
            }
        )
