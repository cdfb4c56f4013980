"""Estimates along any axis with their intervals, drawn: panels side by side, a curve for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from adhere.report.style import (
    DARK,
    FAINT,
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

PAGE_WIDTH = 8.2  # inches, of a figure set over the whole page
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_MANY = 15  # points of a curve, from which on it has a band instead of marks with bars
_PANEL_HEIGHT = {1: 2.3, 2: 1.75, 3: 1.65}  # inches, by the number of columns
_REFERENCE: dict[str, Any] = {"color": DARK, "linewidth": 0.9, "linestyle": (0, (2, 1.5))}


class Level(NamedTuple):
    """A line across every panel to hold curves against, and what the legend calls it."""

    value: float
    label: str


def curves(
    table: polars.DataFrame,
    *,
    x_label: str,
    y_label: str,
    level: Level | None = None,
    percent: bool = True,
    limits: tuple[float, float] | None = None,
    share_y: bool = True,
    note: str = "",
    n_columns: int = 2,
    wide: bool = False,
    log_x: bool = False,
) -> Figure:
    """A panel for each value of the column `panel`, a curve for each of `series`, through `mean` at `x`.

    The table also has the ends of intervals, `low` and `high`; null draws none. Curves of few points
    have marks with bars, those of many a band. A series looks the same in every panel. With `percent` the y axis is
    in percent; it goes over `limits`, if given, and else over all intervals, `level` and zero.
    """
    need(table, "panel", "series", "x", "mean", "low", "high")
    titles, names = in_order(table["panel"]), in_order(table["series"])
    width = PAGE_WIDTH if wide else WIDTH
    n_columns = min(n_columns, len(titles))
    panel_width = (width - 0.35) / n_columns - 0.5
    headings = ["\n".join(broken(str(title), panel_width, TITLE, "bold")) for title in titles]
    n_rows = -(-len(titles) // n_columns)
    caption = broken(x_label, width - 1.0, TITLE)
    height = n_rows * (_PANEL_HEIGHT[min(n_columns, 3)] + 0.15 * max(heading.count("\n") for heading in headings))
    height += 0.15 * len(caption)
    named = len(names) > 1 or bool(names[0])
    chart = PanelFigure(
        height, [*map(str, names if named else []), *([level.label] if level else [])], note, width=width
    )
    cells = chart.panels(headings, n_columns, sharey="all" if share_y else "none")
    low, high = min(table["x"]), max(table["x"])
    for cell, title in zip(cells, titles, strict=True):
        _prepare(cell, percent)
        if log_x:
            cell.set_xscale("log")
            cell.minorticks_off()
            cell.xaxis.set_major_formatter(lambda value, _: written(value))
        else:
            margin = 0.03 * (high - low)
            set_ticks(cell, low - margin, high + margin, panel_width)
        if level is not None:
            cell.axhline(level.value, zorder=1.5, **_REFERENCE)
        handles = _draw(cell, table.filter(table["panel"] == title), names)
        if limits is not None:
            cell.set_ylim(*limits)
        else:
            _limit(cell, table if share_y else table.filter(table["panel"] == title), level)
    chart.above.supxlabel("\n".join(caption), fontsize=TITLE)
    chart.above.supylabel("\n".join(broken(y_label, height - 0.5, TITLE)), fontsize=TITLE)
    return chart.finish([*(handles if named else []), *_level_handle(level)])


def _prepare(cell: Axes, percent: bool) -> None:
    if percent:
        cell.yaxis.set_major_formatter(lambda value, _: f"{written(round(100 * value, 6))}%")
    cell.grid(axis="y", color=FAINT, linewidth=0.6)
    cell.set_axisbelow(True)
    cell.tick_params(labelsize=TEXT, labelleft=True)


def _draw(cell: Axes, rows: polars.DataFrame, names: Sequence[object]) -> list[Any]:
    handles = []
    for number, name in enumerate(names):
        one = rows.filter(rows["series"] == name).sort("x")
        x, mean, low, high = (one[column].cast(float).to_numpy() for column in ("x", "mean", "low", "high"))
        colour, marker = look(number, _MARKERS)
        _, dashes = look(number, _DASHES)
        if len(x) > _MANY:
            cell.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
            (line,) = cell.plot(x, mean, color=colour, linestyle=dashes, linewidth=1.3)
        else:
            cell.vlines(x, low, high, color=colour, linewidth=1.0)
            mark = {"marker": marker, "markersize": 4.2, "markeredgewidth": 0.5, "markeredgecolor": "white"}
            (line,) = cell.plot(x, mean, color=colour, linestyle=dashes, linewidth=1.2, **mark)
        handles.append(line)
    return handles


def _limit(cell: Axes, rows: polars.DataFrame, level: Level | None) -> None:
    ends = [float(end) for column in ("mean", "low", "high") for end in rows[column].drop_nulls().drop_nans()]
    ends += [0.0, *([level.value] if level else [])]
    margin = 0.06 * (max(ends) - min(ends)) or 0.05
    cell.set_ylim(min(ends) - (margin if min(ends) < 0.0 else 0.3 * margin), max(ends) + margin)


def _level_handle(level: Level | None) -> list[Any]:
    from matplotlib.lines import Line2D

    return [] if level is None else [Line2D([], [], **_REFERENCE)]
