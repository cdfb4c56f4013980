"""Figure of estimates: a dot and an interval for each estimate, in rows under headings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from adhere.errors import InputError
from adhere.report.style import (
    FAINT,
    GREY,
    LINE,
    TEXT,
    TITLE,
    WIDTH,
    PanelFigure,
    broken,
    in_order,
    look,
    need,
    set_ticks,
    width_of,
)

if TYPE_CHECKING:
    import polars
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_REFERENCE_LINE: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (2, 1))}
_HATCHES = ("", "/////", "\\" * 5, ".....")
_ACROSS = 3  # maximum number of panels side by side
_LEAST_PANEL = {1: 2.2, 2: 1.3, 3: 0.9}  # inches of width, by the number of panels across
_GAP = 0.17  # inches between panels
_TITLES_AND_TICKS = 0.42  # inches around the rows
_TALL = 6.0  # inches of rows; taller charts have the numbers of the x axis also at the top
_DOT: dict[str, Any] = {"markersize": 4.8, "markeredgewidth": 0.6, "markeredgecolor": "white"}  # points
_COVERED = 2.4  # points on either side of a mean covered by its dot
_CAPPED = 3.4  # points from a mean; a cap closer than this would touch the dot
_UNSEEN = "Where no bar is seen, the interval is narrower than the mark."
_ROW, _SLOT, _BETWEEN, _ABOVE_HEADING, _INDENT = 0.17, 0.125, 0.07, 0.06, 0.08  # inches


class Reference(NamedTuple):
    """Reference interval, such as the paper's result: a band through a panel or through one group of its rows."""

    label: str
    panel: str
    low: float
    high: float
    mean: float
    group: str | None = None


class DotEstimate(NamedTuple):
    """Estimate with its panel and style."""

    panel: str
    style: str
    mean: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the interval, or the mean twice if there is none."""
        return (self.mean, self.mean) if self.low is None or self.high is None else (self.low, self.high)

    @property
    def reach(self) -> float:
        """Distance from the mean to the farther end of the interval."""
        return max(abs(end - self.mean) for end in self.ends)


@dataclass
class Row:
    """Row or heading of the chart; it starts `top` inches below the upper edge of the chart."""

    group: str
    label: str
    is_heading: bool = False
    estimates: list[DotEstimate] = field(default_factory=list)
    text: str = ""
    aside: str = ""
    top: float = 0.0
    height: float = 0.0

    @property
    def y(self) -> float:
        """Vertical position of the middle of the row."""
        return self.top + self.height / 2

    @property
    def indent(self) -> float:
        """Indentation from the left."""
        return _INDENT if self.group and not self.is_heading else 0.0

    @property
    def weight(self) -> str:
        """Font weight of the label."""
        return "bold" if self.is_heading else "normal"

    def styles(self) -> list[str]:
        """Return the distinct styles of the estimates."""
        return list(dict.fromkeys(one.style for one in self.estimates))

    def level(self, style: str) -> float:
        """Return the vertical position of a style: the middle, or one of several positions below each other."""
        styles = self.styles()
        return self.y + _SLOT * (styles.index(style) - (len(styles) - 1) / 2)


def rows_of(table: polars.DataFrame) -> list[Row]:
    """Return the rows of a table in order, with a heading above each group."""
    charts: dict[str, dict[str, Row]] = {}
    for entry in table.iter_rows(named=True):
        group, label = entry.get("group", ""), entry["row"]
        row = charts.setdefault(group, {}).setdefault(label, Row(group, label))
        estimate = DotEstimate(entry["panel"], entry.get("style", ""), entry["mean"], entry["low"], entry["high"])
        if any(one[:2] == estimate[:2] for one in row.estimates):
            raise InputError("table", (group, label, *estimate), "one estimate for each row, panel and style")
        row.estimates.append(estimate)
    return with_headings(row for its in charts.values() for row in its.values())


def with_headings(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with a heading above each group."""
    found: list[Row] = []
    for group, its in groupby(rows, lambda row: row.group):
        found += [Row(group, group, is_heading=True)] if group else []
        found += its
    return found


def fit_labels(chart: Sequence[Row], room: float) -> float:
    """Break labels to fit the room, and return the width of the widest."""
    width = 0.0
    for row in chart:
        lines = broken(row.label, room - row.indent, TEXT, row.weight)
        row.text = "\n".join(lines)
        width = max(width, row.indent + max(width_of(line, TEXT, row.weight) for line in lines))
    return width


def stack(chart: Sequence[Row]) -> float:
    """Place rows below each other, and return their total height."""
    depth = 0.0
    for row in chart:
        row.top = depth + (_ABOVE_HEADING if row.is_heading else 0.0)
        n_more = len(row.styles()) - 1
        n_lines = max(row.text.count("\n"), row.aside.count("\n"))
        row.height = _ROW + max(LINE * n_lines, _SLOT * n_more + _BETWEEN if n_more > 0 else 0.0)
        depth = row.top + row.height
    return depth


def _spans(
    panels: Sequence[str],
    chart: Sequence[Row],
    references: Sequence[Reference],
    zero: bool,
    same_axis: Collection[str],
) -> dict[str, tuple[float, float]]:
    """Return the limits of each panel's x axis."""
    estimates = [one for row in chart for one in row.estimates]
    spans = {}
    for panel in panels:
        bands = [(one.mean, one.low, one.high) for one in references if one.panel == panel]
        ends = [(one.mean, *one.ends) for one in estimates if one.panel == panel]
        spans[panel] = _with_margin([value for one in (*ends, *bands) for value in one] + [0.0] * zero, 0.06)
    shared = [end for one in estimates if one.panel in same_axis for end in one.ends]
    return spans | (dict.fromkeys(same_axis, _with_margin(shared, 0.05)) if shared else {})


def _with_margin(values: Sequence[float], share: float) -> tuple[float, float]:
    margin = share * (max(values) - min(values)) or 1.0
    return min(values) - margin, max(values) + margin


def dots(
    table: polars.DataFrame,
    *,
    x_label: str,
    references: Sequence[Reference] = (),
    same_axis: Collection[str] = (),
    zero: str = "uniform randomisation",
    note: str = "",
) -> Figure:
    """Draw a dot with its interval for each row of a table.

    The table has the columns `row` (the label of a line), `panel`, `mean`, `low` and `high`, and optionally `group`
    (bold headings) and `style` (colour and marker). All keep the order of first appearance. Estimates of one row and
    panel in different styles are drawn below each other.

    The panels in `same_axis` share an axis that just covers their intervals; the axes of other panels also include
    zero and references. `zero` is the legend label of the zero line; if empty, there is no zero line. `note` is
    printed under the legend, with a paragraph for each line. If some intervals are too narrow to be seen, the note
    also states this.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    need(table, "row", "panel", "mean", "low", "high")
    panels = in_order(table["panel"])
    styles = in_order(table["style"]) if "style" in table.columns else [""]
    chart = rows_of(table.fill_nan(None))
    for one in references:
        if one.panel not in panels:
            raise InputError("panel", one.panel, f"one of {', '.join(panels)}")

    n_bands = -(-len(panels) // _ACROSS)
    n_across = -(-len(panels) // n_bands)
    label_width = fit_labels(chart, WIDTH - 0.1 - n_across * (_LEAST_PANEL[n_across] + _GAP))
    panel_width = (WIDTH - 0.1 - label_width) / n_across - _GAP
    depth = stack(chart)
    titles = ["\n".join(broken(panel, panel_width, TITLE, "bold")) for panel in panels]
    caption = broken(x_label, WIDTH - label_width - 0.2, TITLE)
    spans = _spans(panels, chart, references, bool(zero), same_axis)
    bands = list(dict.fromkeys(one.label for one in references))
    key = _key(styles if any(styles) else [], zero, references)
    estimates = [(one, row.level(one.style)) for row in chart for one in row.estimates]
    scales = {panel: 72 * panel_width / (high - low) for panel, (low, high) in spans.items()}  # points per unit
    some_unseen = any(one.low is not None and one.reach * scales[one.panel] < _COVERED for one, _ in estimates)

    n_more_lines = max(title.count("\n") for title in titles)
    band_height = depth + _TITLES_AND_TICKS * (1 + (depth > _TALL) / 2) + 0.15 * n_more_lines
    height = n_bands * band_height + 0.15 * len(caption)
    note = f"{note} {_UNSEEN}".strip() if some_unseen else note
    figure = PanelFigure(height, list(key), note, ConstrainedLayoutEngine(w_pad=_GAP / 3))
    cells = figure.panels(titles, n_across, sharey="all")
    for cell, panel in zip(cells, panels, strict=True):
        prepare_rows(cell, chart, depth, bool(zero))
        set_ticks(cell, *spans[panel], panel_width)
        for reference in references:
            if reference.panel == panel:
                _shade(cell, reference, chart, bands.index(reference.label))
        for number, style in enumerate(styles):
            alike = [(one, y) for one, y in estimates if (one.panel, one.style) == (panel, style)]
            _mark(cell, alike, *look(number, MARKERS), scales[panel])
    for cell in cells[::n_across]:
        label_rows(cell, chart, label_width)
    figure.above.supxlabel("\n".join(caption), x=(WIDTH + label_width) / 2 / WIDTH, fontsize=TITLE)
    return figure.finish(key.values())


def prepare_rows(cell: Axes, chart: Sequence[Row], depth: float, zero: bool) -> None:
    """Prepare an empty panel: a y axis in inches downwards, a faint guide through each row, and the zero line."""
    cell.set_ylim(depth, 0.0)
    cell.tick_params(axis="y", left=False, labelleft=False)
    cell.spines["left"].set_visible(False)
    levels = [row.level(style) for row in chart for style in row.styles()]
    levels += [row.y for row in chart if row.aside]
    cell.hlines(levels, 0.0, 1.0, FAINT, linewidth=0.6, zorder=0, transform=cell.get_yaxis_transform())
    if depth > _TALL:
        cell.spines["top"].set_visible(True)
        cell.tick_params(axis="x", top=True, labeltop=True)
    if zero:
        cell.axvline(0.0, color=GREY, linewidth=0.8, zorder=1)


def label_rows(cell: Axes, chart: Sequence[Row], width: float) -> None:
    """Write the labels of rows and headings to the left of a panel."""
    for row in chart:
        place = 72 * (row.indent - width) - 4
        write_beside(cell, 0.0, row.y, row.text, place, fontweight=row.weight)


def write_beside(cell: Axes, x: float, y: float, text: str, offset: float, **look: Any) -> None:
    """Write text at the left (0) or right (1) end of the axis, shifted to the right by `offset` points."""
    cell.annotate(
        text,
        (x, y),
        xycoords=cell.get_yaxis_transform(),
        xytext=(offset, 0),
        textcoords="offset points",
        annotation_clip=False,
        va="center_baseline" if "\n" not in text else "center",
        fontsize=TEXT,
        **look,
    )


def _shade(cell: Axes, one: Reference, chart: Sequence[Row], number: int) -> None:
    rows = [row for row in chart if one.group in (None, row.group)]
    if not rows:
        raise InputError("reference", one.group, "a group of the table")
    top, bottom = rows[0].top, rows[-1].top + rows[-1].height
    cell.fill_betweenx([top, bottom], one.low, one.high, **_band_look(number), zorder=0.5)
    cell.plot([one.mean, one.mean], [top, bottom], **_REFERENCE_LINE, zorder=1)


def _band_look(number: int) -> dict[str, Any]:
    hatch = _HATCHES[number % len(_HATCHES)]
    return {"facecolor": "#00000018", "edgecolor": "#00000030", "linewidth": 0, "hatch": hatch}


def _mark(cell: Axes, estimates: Sequence[tuple[DotEstimate, float]], colour: str, marker: str, scale: float) -> None:
    """Draw the dots of one style over their intervals; caps do not touch dots. `scale` is in points per unit."""
    bars = [(*one.ends, y) for one, y in estimates if one.low is not None]
    ends = [(end, y, abs(end - one.mean)) for one, y in estimates for end in one.ends]
    caps = [(end, y) for end, y, away in ends if away * scale > _CAPPED]
    cell.hlines(
        [y for *_, y in bars], [low for low, *_ in bars], [high for _, high, _ in bars], colour, lw=1, zorder=3
    )
    _scatter(cell, caps, color=colour, marker="|", markersize=6.5, markeredgewidth=0.8, zorder=3)
    _scatter(cell, [(one.mean, y) for one, y in estimates], color=colour, marker=marker, zorder=4, **_DOT)


def _scatter(cell: Axes, points: Sequence[tuple[float, float]], **look: Any) -> None:
    if points:  # the layout cannot place empty artists
        cell.plot([x for x, _ in points], [y for _, y in points], linestyle="none", clip_on=False, **look)


def _key(styles: Sequence[str], zero: str, references: Sequence[Reference]) -> dict[str, Artist]:
    """Return the legend entries by label; a reference without width is shown as a line through its mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    key: dict[str, Artist] = {}
    for number, style in enumerate(styles):
        colour, marker = look(number, MARKERS)
        key[style] = Line2D([], [], color=colour, marker=marker, linewidth=1, **_DOT)
    for number, label in enumerate(dict.fromkeys(one.label for one in references)):
        is_band = any(one.low < one.high for one in references if one.label == label)
        key[label] = Patch(**_band_look(number)) if is_band else Line2D([], [], **_REFERENCE_LINE)
    if zero:
        key[f"{zero} (zero)"] = Line2D([], [], color=GREY, linewidth=0.8)
    return key
