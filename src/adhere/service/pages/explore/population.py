"""Who the patients are: a picture of the compliance types, of what they take and how they fare."""

from __future__ import annotations

from typing import Final

from adhere.exploration.results import Exploration
from adhere.service.pages.explore.chart import ARM_COLOUR, ARMS, ExploreChart, Rows, plain

_LABELLED: Final = 0.17  # a compliance type with a smaller share is too narrow for its name


def population(found: Exploration | None) -> ExploreChart:
    """A column for each compliance type, as wide as its share; told control above, told treatment below."""
    groups = found.settings.groups if found else ()
    values: Rows = []
    left = 0.0
    for group in groups:
        for told, base in ((0, 1.15), (1, 0.0)):
            taken = group.takes[told]
            reward = group.rewards[taken]
            values.append(
                {
                    "compliance_type": group.name,
                    "share": round(group.share, 4),
                    "told": ARMS[told],
                    "takes": ARMS[taken],
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
        "x": plain("left", domain=[0, 1], format=".0%", title="share of the patients"),
        "x2": {"field": "right"},
    }
    up = plain("bottom", domain=[0, 2.45]) | {
        "axis": {
            "values": [0.5, 1.65],
            "labelExpr": "datum.value < 1 ? 'told treatment' : 'told control'",
            "title": None,
            "grid": False,
            "ticks": False,
            "domain": False,
        }
    }
    colour = {"field": "takes", **ARM_COLOUR}
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
                    "y": plain("top"),
                    "text": {"field": "name"},
                },
            },
        ],
    }
    shares = ", ".join(f"{group.share:.0%} {group.name}" for group in groups if group.share)
    label = (
        f"Who the patients are: {shares}. A column is a compliance type; its colour is the arm taken, its height the"
        " reward."
    )
    columns = {
        "compliance_type": "compliance type",
        "share": "share",
        "told": "told",
        "takes": "takes",
        "reward": "mean reward",
    }
    return ExploreChart(spec, values, label, columns)
