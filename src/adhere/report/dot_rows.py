"""The rows of a dot-and-interval chart: what stands in them, how high they are, how far their axes go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from adhere.errors import InputError
from adhere.report.style import LINE, TEXT, broken, width_of

if TYPE_CHECKING:
    import polars

_ROW, _SLOT, _BETWEEN, _ABOVE_HEADING, _INDENT = 0.17, 0.125, 0.07, 0.06, 0.08  # inches


class Reference(NamedTuple):
    """An interval to compare with, such as the paper's: a band through a panel, or through one group of its rows."""

    label: str
    panel: str
    low: float
    high: float
    mean: float
    group: str | None = None


class DotEstimate(NamedTuple):
    """An estimate, its panel and its style."""

    panel: str
    style: str
    mean: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the mean twice where there is none."""
        return (self.mean, self.mean) if self.low is None or self.high is None else (self.low, self.high)

    @property
    def reach(self) -> float:
        """How far from the mean the interval goes, on the side where it goes farther."""
        return max(abs(end - self.mean) for end in self.ends)


@dataclass
class Row:
    """A row of the chart, or a heading; it begins `top` inches below the chart's upper edge."""

    group: str
    label: str
    is_heading: bool = False
    estimates: list[DotEstimate] = field(default_factory=list)
    text: str = ""
    top: float = 0.0
    height: float = 0.0

    @property
    def y(self) -> float:
        """Where its middle is."""
        return self.top + self.height / 2

    @property
    def indent(self) -> float:
        """How far it stands in from the left."""
        return _INDENT if self.group and not self.is_heading else 0.0

    @property
    def weight(self) -> str:
        """How bold its label is."""
        return "bold" if self.is_heading else "normal"

    def styles(self) -> list[str]:
        """The styles of its estimates, each once."""
        return list(dict.fromkeys(one.style for one in self.estimates))

    def level(self, style: str) -> float:
        """Where the estimates of a style stand: in the middle, or below each other when there are several."""
        styles = self.styles()
        return self.y + _SLOT * (styles.index(style) - (len(styles) - 1) / 2)


def rows_of(table: polars.DataFrame) -> list[Row]:
    """The rows in order, each group's under its heading."""
    charts: dict[str, dict[str, Row]] = {}
    for entry in table.iter_rows(named=True):
        group, label = entry.get("group", ""), entry["row"]
        row = charts.setdefault(group, {}).setdefault(label, Row(group, label))
        estimate = DotEstimate(entry["panel"], entry.get("style", ""), entry["mean"], entry["low"], entry["high"])
        if any(one[:2] == estimate[:2] for one in row.estimates):
            raise InputError("table", (group, label, *estimate), "one estimate for each row, panel and style")
        row.estimates.append(estimate)
    headings = {group: [Row(group, group, is_heading=True)] if group else [] for group in charts}
    return [row for group, its in charts.items() for row in (*headings[group], *its.values())]


def fit_labels(chart: Sequence[Row], room: float) -> float:
    """Break labels to fit the room, and say how wide the widest then is."""
    width = 0.0
    for row in chart:
        lines = broken(row.label, room - row.indent, TEXT, row.weight)
        row.text = "\n".join(lines)
        width = max(width, row.indent + max(width_of(line, TEXT, row.weight) for line in lines))
    return width


def stack(chart: Sequence[Row]) -> float:
    """Put rows below each other, and say how deep they are together."""
    depth = 0.0
    for row in chart:
        row.top = depth + (_ABOVE_HEADING if row.is_heading else 0.0)
        n_more = len(row.styles()) - 1
        row.height = _ROW + max(LINE * row.text.count("\n"), _SLOT * n_more + _BETWEEN if n_more > 0 else 0.0)
        depth = row.top + row.height
    return depth


def common_limits(table: polars.DataFrame) -> tuple[float, float]:
    """From where to where an axis goes that shows all intervals of a table, to be shared by several panels."""
    lowest, highest = min(table["low"]), max(table["high"])
    margin = 0.05 * (highest - lowest) or 1.0
    return lowest - margin, highest + margin


def span(panel: str, chart: Sequence[Row], references: Sequence[Reference], zero: bool) -> tuple[float, float]:
    """From where to where a panel's axis goes, unless that is given."""
    ends = [(one.mean, *one.ends) for row in chart for one in row.estimates if one.panel == panel]
    bands = [(one.mean, one.low, one.high) for one in references if one.panel == panel]
    values = [value for one in (*ends, *bands) for value in one] + ([0.0] if zero else [])
    margin = 0.06 * (max(values) - min(values)) or 1.0
    return min(values) - margin, max(values) + margin
