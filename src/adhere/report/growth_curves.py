"""Regret against the number of patients, drawn: on two logarithmic axes, or on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adhere.errors import InputError
from adhere.report.style import DARK, GREY, INKS, TEXT, TITLE, PanelFigure, in_order, look, need

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_PANEL = {1: 2.7, 2: 1.9}  # inches of height, by the number of columns
_BEFORE, _BEYOND = 0.7, 1.9  # times the least and the greatest T: where the axis ends, with room to name guides
_FEW_TICKS = 300.0  # times the lowest value: a logarithmic axis up to there holds two powers of ten or fewer
_SCALES = ("log", "linear")


class Guide(NamedTuple):
    """A curve to hold others against, factor · T ** power, in one panel or in all."""

    label: str
    power: float
    factor: float
    panel: str | None = None


def growth_curves(
    table: polars.DataFrame, scale: str, guides: Sequence[Guide] = (), *, n_columns: int = 1, note: str = ""
) -> Figure:
    """Mean regret with its interval against `n_patients`, whose axis is logarithmic; `scale` is the other axis's.

    The table has the columns `population`, a panel for each, `name`, a curve for each, which looks the same in every
    panel, `n_patients`, `mean`, `low` and `high`. Guides are grey, labelled where they end. Panels stand in one or
    two columns, above the legend and the note; in two each has its own axes.
    """
    from matplotlib.ticker import LogLocator

    need(table, "population", "name", "n_patients", "mean", "low", "high")
    if scale not in _SCALES:
        raise InputError("scale", scale, f"one of {', '.join(_SCALES)}")
    titles, names = in_order(table["population"]), in_order(table["name"])
    if len(names) > len(INKS):
        raise InputError("name", names, f"at most {len(INKS)}, so that each has a colour and a marker of its own")
    n_columns = min(n_columns, len(titles))
    chart = PanelFigure(_PANEL[n_columns] * -(-len(titles) // n_columns), names, note)
    scales = {"xscale": "log", "yscale": scale}
    cells = chart.panels(titles, n_columns, sharex="all" if n_columns == 1 else "none", subplot_kw=scales)
    handles: dict[object, Any] = {}
    for cell, title in zip(cells, titles, strict=True):
        cell.minorticks_off()
        cell.tick_params(labelbottom=True)
        rows = table.filter(population=title)
        for number, name in enumerate(names):
            one = rows.filter(name=name).sort("n_patients")
            if not one.is_empty():
                handles.setdefault(name, _draw(cell, one, number))
        _limit(cell, rows, scale)
        bottom, top = cell.get_ylim()
        if n_columns > 1 and scale == "log" and top < _FEW_TICKS * bottom:
            cell.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        for guide in guides:
            if guide.panel in (None, title):
                _guide(cell, guide)
    for cell in cells[-n_columns:]:
        cell.set_xlabel("patients in the trial, T", fontsize=TITLE)
    chart.above.supylabel("regret (rewards lost)", fontsize=TITLE)
    return chart.finish([handles[name] for name in names], settle=False)


def _draw(cell: Axes, rows: polars.DataFrame, number: int) -> Any:
    """A line through the means, a marker for each and a bar for its interval."""
    t, mean, low, high = (rows[column].cast(float).to_numpy() for column in ("n_patients", "mean", "low", "high"))
    colour, marker = look(number, _MARKERS)
    _, dashes = look(number, _DASHES)
    cell.vlines(t, low, high, color=colour, linewidth=1.0, alpha=0.9)
    (line,) = cell.plot(t, mean, color=colour, linestyle=dashes, linewidth=1.1, marker=marker, markersize=3.6)
    line.set_markeredgewidth(0)
    return line


def _limit(cell: Axes, rows: polars.DataFrame, scale: str) -> None:
    """Room for every mean, and for all intervals but those that reach to zero, which a logarithmic axis has not."""
    t, mean, low, high = (rows[column].cast(float).to_numpy() for column in ("n_patients", "mean", "low", "high"))
    lowest, highest = np.fmin(mean, low).min(), np.fmax(mean, high).max()
    cell.set_xlim(_BEFORE * t.min(), _BEYOND * t.max())
    if scale == "log":
        cell.set_ylim(0.7 * max(lowest, 0.5 * mean.min()), 2.2 * highest)
    else:
        cell.set_ylim(min(0.0, lowest), 1.05 * highest)


def _guide(cell: Axes, guide: Guide) -> None:
    (left, right), (bottom, top) = cell.get_xlim(), cell.get_ylim()
    t = np.geomspace(left / _BEFORE, right / _BEYOND, 101)
    y = guide.factor * t**guide.power
    seen = (y >= bottom) & (y <= top)
    cell.plot(t[seen], y[seen], color=GREY, linewidth=0.8, zorder=0)
    cell.annotate(
        guide.label,
        (t[seen][-1], y[seen][-1]),
        xytext=(3, 0),
        textcoords="offset points",
        fontsize=TEXT,
        color=DARK,
        va="center",
        annotation_clip=False,
    )
