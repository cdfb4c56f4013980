"""Line charts of estimates with their intervals: panels side by side, a line for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adhere.report.style import (
    DARK,
    FAINT,
    GREY,
    PAGE_WIDTH,
    TEXT,
    TITLE,
    WIDTH,
    PanelFigure,
    broken,
    in_order,
    look,
    need,
    set_ticks,
    written,
)

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TRIANGLES = {"marker": "v", "markersize": 4.2, "markeredgecolor": "white", "markeredgewidth": 0.6}
_LOOKS: tuple[dict[str, Any], ...] = (
    {"linestyle": "-"},
    {"linestyle": (0, (5, 1.5))},
    {"linestyle": (0, (1, 1))},
    {"linestyle": (0, (6, 1.5, 1, 1.5))},
    {"linestyle": "-", **_TRIANGLES},
    {"linestyle": (0, (3, 1, 1, 1, 1, 1))},
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_MANY = 15  # a line with more points has a band instead of marks with bars
_MANY_LINES = 6  # with more lines, bands are fainter
_APART = 0.18  # distance between marks on a line with a band, as a share of the panel's diagonal
_PANEL_HEIGHT = {1: 2.5, 2: 1.9, 3: 1.65}  # inches, by the number of columns
_BEFORE, _BEYOND = 0.7, 1.9  # ends of a logarithmic axis, relative to the smallest and largest x; room for guides
_FEW_TICKS = 300.0  # a logarithmic axis with a smaller ratio of ends has at most two powers of ten
_PER_BAR, _WIDEST_STRIP = 0.035, 0.35  # width of a bar and of all bars, as shares of the axis
_BEST: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 0}


class Level(NamedTuple):
    """Horizontal reference line in every panel, with its legend label."""

    value: float
    label: str

    @property
    def look(self) -> dict[str, Any]:
        """Style of the line: solid for zero, otherwise dashed."""
        broken_line = {"color": DARK, "linewidth": 0.9, "linestyle": (0, (2, 1.5))}
        return broken_line if self.value else {"color": GREY, "linewidth": 0.8}


class Guide(NamedTuple):
    """Reference curve, factor · x ** power, in one panel or in all."""

    label: str
    power: float
    factor: float
    panel: str | None = None


def lines(
    table: polars.DataFrame,
    *,
    x_label: str,
    y_label: str,
    level: Level | None = None,
    guides: Sequence[Guide] = (),
    ends: polars.DataFrame | None = None,
    best: polars.DataFrame | None = None,
    percent: bool = False,
    limits: tuple[float, float] | None = None,
    share_y: bool = True,
    log_x: bool = False,
    log_y: bool = False,
    n_columns: int = 2,
    wide: bool = False,
    note: str = "",
) -> Figure:
    """Draw a panel for each value of the column `panel`, with a line for each `series` through `mean` at `x`.

    The table also has the ends of intervals, `low` and `high`; if they are null, no interval is drawn. Lines with few
    points have marks with bars, lines with many points a band. Panels and series keep the order of first appearance;
    a series looks the same in every panel. With `percent`, the y axis is in percent. It covers `limits` if given, and
    otherwise everything drawn and zero.

    Guides are grey, labelled at their ends. `ends` has, by panel and series, the quantiles `q05`, `q25`, `q50`, `q75`
    and `q95` of the final values of the series, drawn as bars to the right of the lines. `best` has, by panel and
    `x`, the `mean` of always choosing the best arm, drawn as a dashed grey line. `note` is printed under the legend,
    with a paragraph for each of its lines.
    """
    need(table, "panel", "series", "x", "mean", "low", "high")
    titles, names = in_order(table["panel"]), in_order(table["series"])
    width = PAGE_WIDTH if wide else WIDTH
    n_columns = min(n_columns, len(titles))
    panel_width = (width - 0.35) / n_columns - 0.5
    headings = ["\n".join(broken(str(title), panel_width, TITLE, "bold")) for title in titles]
    caption = broken(x_label, width - 1.0, TITLE)
    n_more_lines = max(heading.count("\n") for heading in headings)
    height = -(-len(titles) // n_columns) * (_PANEL_HEIGHT[min(n_columns, 3)] + 0.15 * n_more_lines)
    height += 0.15 * len(caption)
    named = list(map(str, names)) if len(names) > 1 or names[0] else []
    key = [*named, *([level.label] if level else []), *(["always the best arm"] if best is not None else [])]
    chart = PanelFigure(height, key, note, width=width)
    scales = {"xscale": "log" if log_x else "linear", "yscale": "log" if log_y else "linear"}
    cells = chart.panels(headings, n_columns, sharey="all" if share_y else "none", subplot_kw=scales)
    has_bands = max(table.group_by("panel", "series").len()["len"]) > _MANY
    handles: list[Any] = []
    for cell, title in zip(cells, titles, strict=True):
        rows, others = table.filter(panel=title), []
        if percent:
            cell.yaxis.set_major_formatter(lambda value, _: f"{written(round(100 * value, 6))}%")
        cell.grid(axis="y", color=FAINT, linewidth=0.6)
        cell.set_axisbelow(True)
        cell.tick_params(labelleft=True, labelbottom=True)
        handles = _draw(cell, rows, names, has_bands)[: len(named)]
        if level is not None:
            handles.append(cell.axhline(level.value, zorder=1.5, **level.look))
            others.append(level.value)
        if best is not None:
            one = best.filter(panel=title).sort("x")
            handles += cell.plot(one["x"], one["mean"], **_BEST)
            others += one["mean"].to_list()
        bars = None if ends is None else ends.filter(panel=title)
        if bars is not None:
            others += [*bars["q05"], *bars["q95"]]
        low, high = float(min(table["x"])), float(max(table["x"]))
        margin = 0.0 if has_bands else 0.03 * (high - low)
        if log_x:
            cell.minorticks_off()
            cell.set_xlim(_BEFORE * low, (_BEYOND if guides else 1 / _BEFORE) * high)
        elif bars is None:
            set_ticks(cell, low - margin, high + margin, panel_width)
        else:
            _draw_ends(cell, bars, names, (low - margin, high + margin), panel_width)
        if limits is not None:
            cell.set_ylim(*limits)
        else:
            _limit_y(cell, table if share_y else rows, others, n_columns > 1)
        for guide in guides:
            if guide.panel in (None, title):
                _guide(cell, guide)
    chart.above.supxlabel("\n".join(caption), fontsize=TITLE)
    chart.above.supylabel("\n".join(broken(y_label, height - 0.5, TITLE)), fontsize=TITLE)
    return chart.finish(handles)


def _draw(cell: Axes, rows: polars.DataFrame, names: Sequence[object], has_bands: bool) -> list[Any]:
    handles = []
    for number, name in enumerate(names):
        one = rows.filter(series=name).sort("x")
        x, mean, low, high = (one[column].cast(float).to_numpy() for column in ("x", "mean", "low", "high"))
        colour, shape = look(number, _LOOKS)
        if has_bands:
            alpha = 0.18 if len(names) <= _MANY_LINES else 0.09
            cell.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)
            shape = {**shape, "markevery": (_APART / 2, _APART)} if "marker" in shape else shape
        else:
            cell.vlines(x, low, high, color=colour, linewidth=1.0)
            shape = {**_TRIANGLES, **shape, "marker": look(number, _MARKERS)[1]}
        handles += cell.plot(x, mean, color=colour, linewidth=1.2, **shape)
    return handles


def _draw_ends(
    cell: Axes, bars: polars.DataFrame, names: Sequence[object], axis: tuple[float, float], inches: float
) -> None:
    """Draw a bar of quantiles over runs for each series, in a strip beyond the axis."""
    (first, last), strip = axis, min(_WIDEST_STRIP, _PER_BAR * (len(names) + 1))
    set_ticks(cell, first, last, inches / (1 + strip))
    width = strip * (last - first)
    for number, name in enumerate(names):
        one = bars.filter(series=name)
        at, colour = last + (number + 1) * width / (len(names) + 1), look(number, _LOOKS)[0]
        cell.vlines(at, one["q05"], one["q95"], color=colour, linewidth=0.9)
        cell.vlines(at, one["q25"], one["q75"], color=colour, linewidth=2.6)
        cell.scatter([at] * len(one), one["q50"], s=7, c="white", edgecolors=colour, linewidths=0.8, zorder=3)
    cell.vlines(last, 0.0, 1.0, color=FAINT, linewidth=0.8, zorder=0, transform=cell.get_xaxis_transform())
    cell.set_xlim(right=last + width)
    cell.spines["bottom"].set_bounds(first, last)


def _limit_y(cell: Axes, rows: polars.DataFrame, others: Sequence[float], is_small: bool) -> None:
    """Set the limits of the y axis to include everything drawn; a logarithmic axis cuts off intervals near zero."""
    from matplotlib.ticker import LogLocator

    mean = rows["mean"].cast(float).to_numpy()
    low, high = (rows[name].cast(float).to_numpy() for name in ("low", "high"))
    lowest, highest = float(np.fmin(mean, low).min()), float(np.fmax(mean, high).max())
    if cell.get_yscale() == "log":
        cell.minorticks_off()
        bottom, top = 0.7 * max(lowest, 0.5 * float(mean.min())), 2.2 * highest
        cell.set_ylim(bottom, top)
        if is_small and top < _FEW_TICKS * bottom:
            cell.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        return
    lowest, highest = min(0.0, lowest, *others), max(0.0, highest, *others)
    margin = 0.06 * (highest - lowest) or 0.05
    cell.set_ylim(lowest - (margin if lowest < 0.0 else 0.3 * margin), highest + margin)


def _guide(cell: Axes, guide: Guide) -> None:
    (left, right), (bottom, top) = cell.get_xlim(), cell.get_ylim()
    x = np.geomspace(left / _BEFORE, right / _BEYOND, 101)
    y = guide.factor * x**guide.power
    seen = (y >= bottom) & (y <= top)
    cell.plot(x[seen], y[seen], color=GREY, linewidth=0.8, zorder=0)
    cell.annotate(
        guide.label,
        (x[seen][-1], y[seen][-1]),
        xytext=(3, 0),
        textcoords="offset points",
        fontsize=TEXT,
        color=DARK,
        va="center",
        annotation_clip=False,
    )
