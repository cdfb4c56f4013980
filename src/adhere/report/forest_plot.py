"""Forest plot of estimates by many methods on one axis: marks with lines, bars for bounds, arrows for open ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from adhere.report.dots import MARKERS, Row, fit_labels, label_rows, prepare_rows, stack, with_headings, write_beside
from adhere.report.style import (
    COLOURS,
    GREY,
    PAGE_WIDTH,
    TEXT,
    TITLE,
    PanelFigure,
    broken,
    set_ticks,
    width_of,
    written,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ABOVE, _BELOW = 0.3, 0.26  # inches around the rows
_WIDEST_LABEL, _WIDEST_TEXT, _BESIDE = 2.3, 2.7, 0.14  # inches, for labels and numbers
_LEAST_SEEN = 0.03  # minimum share of the axis for the narrowest interval; far wider ones are cut


class ForestRow(NamedTuple):
    """Row of the plot: label, kind of interval (colour and mark), estimate, confidence set, and both as text.

    The set is one interval, or two if it is the complement of an interval; ends may be infinite. Bounds are
    drawn as a `bar` instead of a mark; the interval then shows the uncertainty of the bounds.
    """

    group: str
    label: str
    kind: str
    value: float | None
    pieces: Sequence[tuple[float, float]]
    text: str
    bar: tuple[float, float] | None = None


def forest_plot(
    rows: Sequence[ForestRow],
    *,
    kinds: Sequence[str],
    x_label: str,
    heading: str,
    zero: str,
    hollow: Sequence[str] = (),
) -> Figure:
    """Draw rows under the headings of their groups, in a figure that is a page wide; texts are under `heading`.

    A set with an infinite end has an arrow there. A set that ends beyond the axis is cut by two slashes. The axis
    includes zero and every estimate from -1 to 1; an estimate beyond them is a hollow triangle at the end of the
    axis. A kind looks the same in all figures with the same `kinds`. Kinds in `hollow` are drawn as grey outlines.
    """
    chart = with_headings(Row(one.group, one.label, aside="\n".join(broken(one.text, _WIDEST_TEXT))) for one in rows)
    left = fit_labels(chart, _WIDEST_LABEL)
    asides = [line for text in (heading, *(row.aside for row in chart)) for line in text.split("\n")]
    right = max(width_of(line, TEXT) for line in asides) + _BESIDE
    depth = stack(chart)
    drawn = {row.kind for row in rows if row.value is not None or row.pieces or row.bar}
    looks = {kind: _mark(kind, kinds, hollow) for kind in kinds if kind in drawn}
    axis = PAGE_WIDTH - left - right - 0.3
    caption = broken(x_label, axis + 0.8, TITLE)
    below = _BELOW + 0.15 * len(caption)
    height = depth + _ABOVE + below
    figure = PanelFigure(height, [*looks, f"{zero} (zero)"], "", layout=None, width=PAGE_WIDTH)
    place = ((left + 0.15) / PAGE_WIDTH, below / height, axis / PAGE_WIDTH, depth / height)
    cell, limits = figure.above.add_axes(place), axis_limits(rows)
    prepare_rows(cell, chart, depth, zero=True)
    set_ticks(cell, *limits, axis)
    cell.xaxis.set_major_formatter(lambda value, _: written(value))
    cell.tick_params(axis="x", labelsize=TEXT)
    cell.set_xlabel("\n".join(caption), fontsize=TITLE)
    label_rows(cell, chart, left)
    write_beside(cell, 1.0, -0.1, heading, 72 * _BESIDE, fontweight="bold")
    for line, row in zip((line for line in chart if not line.is_heading), rows, strict=True):
        write_beside(cell, 1.0, line.y, line.aside, 72 * _BESIDE)
        if row.kind in looks:
            _draw_sets(cell, row, line.y, limits, looks[row.kind])
    return figure.finish(_key(looks, rows), settle=False)


def axis_limits(rows: Sequence[ForestRow], furthest: float = 1.0) -> tuple[float, float]:
    """Return the limits of the axis: they include all intervals, unless the narrowest would become invisible.

    Estimates and ends beyond `furthest` are ignored; no difference of outcomes from 0 to 1 can be beyond 1.

    >>> row = ForestRow("", "", "", 0.1, [(0.0, 0.2)], "")
    >>> [round(end, 3) for end in axis_limits([row, row._replace(pieces=[(-math.inf, math.inf)])])]
    [-0.008, 0.208]
    """
    kept = [0.0, *(row.value for row in rows if row.value is not None and abs(row.value) <= furthest)]
    spans = [piece for row in rows for piece in (*row.pieces, *([row.bar] if row.bar else ()))]
    widths = [high - low for low, high in spans if 0.0 < high - low < math.inf]
    reach = min(widths, default=1.0) / _LEAST_SEEN
    low, high = min(kept), max(kept)
    for end in sorted((end for span in spans for end in span if abs(end) <= furthest), key=abs):
        if max(high, end) - min(low, end) <= max(reach, high - low):
            low, high = min(low, end), max(high, end)
    margin = 0.04 * (high - low) or 0.1
    return low - margin, high + margin


def is_cut(end: float, limits: tuple[float, float]) -> bool:
    """Return whether an end is finite and beyond the axis."""
    return math.isfinite(end) and not limits[0] <= end <= limits[1]


def marks_in_words(rows: Sequence[ForestRow]) -> str:
    """Explain the arrows, slashes and triangles that a plot of these rows has."""
    limits, ends = axis_limits(rows), [end for row in rows for piece in row.pieces for end in piece]
    meanings = {
        " An arrow: the set has no end on that side.": any(map(math.isinf, ends)),
        " Two slashes: it ends beyond the axis; the numbers say where.": any(is_cut(end, limits) for end in ends),
        " A hollow triangle: the estimate lies beyond the axis, where no effect can be.": any(
            row.value is not None and is_cut(row.value, limits) for row in rows
        ),
    }
    return "".join(words for words, is_seen in meanings.items() if is_seen)


def _mark(kind: str, kinds: Sequence[str], hollow: Sequence[str]) -> dict[str, Any]:
    """Return the style of the marks of a kind: filled with a white edge, or a grey outline."""
    number = kinds.index(kind)
    shape, colour = (MARKERS[0], GREY) if kind in hollow else (MARKERS[number % len(MARKERS)], COLOURS[number % 7])
    face, edge = ("white", colour) if kind in hollow else (colour, "white")
    return {"color": colour, "marker": shape, "markersize": 5, "markerfacecolor": face, "markeredgecolor": edge}


def _draw_sets(cell: Axes, row: ForestRow, y: float, limits: tuple[float, float], mark: Mapping[str, Any]) -> None:
    colour, low_end, high_end = mark["color"], *limits
    for low, high in row.pieces:
        start, end = (min(max(one, low_end), high_end) for one in (low, high))
        cell.plot([start, end], [y, y], color=colour, linewidth=1.2, solid_capstyle="butt", zorder=3)
        for at, exact, arrow in ((start, low, "<"), (end, high, ">")):
            shape = _end_mark(exact, limits, arrow)
            cell.plot([at], [y], color=colour, linestyle="none", clip_on=False, zorder=3, **shape)
    if row.bar is not None:
        low, high = max(row.bar[0], low_end), min(row.bar[1], high_end)
        fill = {"facecolor": mark["markerfacecolor"], "edgecolor": colour, "linewidth": 1.0, "alpha": 0.75}
        cell.barh(y, high - low, 0.1, low, **fill, zorder=3.5)
    if row.value is not None and is_cut(row.value, limits):
        at, arrow = (low_end, "<") if row.value < low_end else (high_end, ">")
        hollow = {"marker": arrow, "markersize": 6.5, "markerfacecolor": "white", "markeredgecolor": colour}
        cell.plot([at], [y], linestyle="none", clip_on=False, zorder=4, **{**mark, **hollow}, markeredgewidth=1.0)
    elif row.value is not None:
        cell.plot([row.value], [y], linestyle="none", zorder=4, **mark, markeredgewidth=0.6)


def _end_mark(end: float, limits: tuple[float, float], arrow: str) -> dict[str, Any]:
    from matplotlib.path import Path

    if math.isinf(end):
        return {"marker": arrow, "markersize": 4.5}
    if is_cut(end, limits):
        slashes = Path([(-0.7, -1), (0.1, 1), (-0.1, -1), (0.7, 1)], [1, 2, 1, 2])  # move, line, move, line
        return {"marker": slashes, "markersize": 7, "markerfacecolor": "none", "markeredgewidth": 1.1}
    return {"marker": "|", "markersize": 6}


def _key(used: Mapping[str, Mapping[str, Any]], rows: Sequence[ForestRow]) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    barred = {row.kind for row in rows if row.bar is not None}
    handles: list[Artist] = []
    for kind, mark in used.items():
        if kind in barred and mark["markerfacecolor"] == mark["color"]:
            handles.append(Patch(facecolor=mark["color"], alpha=0.75))
        else:
            handles.append(Line2D([], [], linewidth=1.2, **mark))
    return [*handles, Line2D([], [], color=GREY, linewidth=0.9)]
