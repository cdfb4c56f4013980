"""What a chart of Explore is: drawn once by Vega-Lite, then given other data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

Rows = list[dict[str, Any]]

ARMS: Final = ("control", "treatment")
ARM_COLOUR: Final = {
    "type": "nominal",
    "scale": {"domain": list(ARMS), "range": "arms"},
    "legend": {"columns": 2, "symbolOpacity": 1},
}


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


def plain(field: str, **options: Any) -> dict[str, Any]:
    """A quantitative axis without rounding of its ends."""
    scale = {"nice": False, "zero": False} | ({"domain": options["domain"]} if "domain" in options else {})
    axis = (
        {"axis": {"format": options["format"], "title": options["title"], "grid": False}}
        if "format" in options
        else {}
    )
    return {"field": field, "type": "quantitative", "scale": scale, **axis}
