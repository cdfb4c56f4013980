"""Estimates by many methods on one axis: marks with lines, bars for bounds; a set without an end has an arrow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from adhere.report.style import (
    COLOURS,
    FAINT,
    GREY,
    LINE,
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

# Inches, but for the last.
WIDTH = 8.2
_ROW, _HEADING, _ABOVE_HEADING, _ABOVE, _BELOW = 0.2, 0.2, 0.09, 0.3, 0.26
_WIDEST_LABEL, _WIDEST_TEXT, _GAP = 2.3, 2.7, 0.14
_LEAST_SEEN = 0.03  # of the axis, which the narrowest interval takes at least; far wider ones are cut
_MARKERS = ("o", "s", "D", "^", "v", "P")


class ForestRow(NamedTuple):
    """A row: its label, the kind of interval (a colour and mark), the estimate, its set, and both in words.

    The set is one interval, or two where it is all but an interval; ends may be infinite. A `bar` is drawn instead of
    a mark: bounds, on which the interval is the uncertainty.
    """

    group: str
    label: str
    kind: str
    value: float | None
    pieces: Sequence[tuple[float, float]]
    text: str
    bar: tuple[float, float] | None = None


class _Look(NamedTuple):
    colour: str
    marker: str
    is_hollow: bool

    @property
    def mark(self) -> dict[str, Any]:
        face, edge = ("white", self.colour) if self.is_hollow else (self.colour, "white")
        return {
            "color": self.colour,
            "marker": self.marker,
            "markersize": 5,
            "markerfacecolor": face,
            "markeredgecolor": edge,
        }


def forest_plot(
    rows: Sequence[ForestRow],
    *,
    kinds: Sequence[str],
    x_label: str,
    heading: str,
    zero: str,
    hollow: Sequence[str] = (),
) -> Figure:
    """The rows under the headings of their groups, with their numbers at the right under a `heading`; a page wide.

    A set without an end has an arrow there; one that ends beyond the axis is cut by two slashes. The axis holds zero
    and every estimate from -1 to 1; an estimate beyond them has a hollow triangle at the axis's end. A kind looks the
    same in all figures with the same `kinds`; those that are `hollow` are grey outlines.
    """
    labels = ["\n".join(broken(row.label, _WIDEST_LABEL)) for row in rows]
    texts = ["\n".join(broken(row.text, _WIDEST_TEXT)) for row in rows]
    heights = [
        _ROW + LINE * max(label.count("\n"), text.count("\n")) for label, text in zip(labels, texts, strict=True)
    ]
    groups = [
        (name, [number for number, _ in found]) for name, found in groupby(enumerate(rows), lambda one: one[1].group)
    ]
    left = max(width_of(line, TEXT) for label in labels for line in label.split("\n")) + _GAP
    right = max(width_of(line, TEXT) for text in (*texts, heading) for line in text.split("\n")) + _GAP
    headings = {name: broken(name, WIDTH - right, TEXT, "bold") for name, _ in groups if name}
    above = {name: _HEADING + LINE * (len(lines) - 1) for name, lines in headings.items()}
    depth = sum(heights) + sum(above[name] + _ABOVE_HEADING for name, _ in groups if name)
    drawn = {row.kind for row in rows if row.value is not None or row.pieces or row.bar}
    used = [kind for kind in kinds if kind in drawn]
    axis = WIDTH - left - right - 0.2
    caption = broken(x_label, axis + 0.8, TITLE)
    below = _BELOW + 0.15 * len(caption)
    height = depth + _ABOVE + below
    chart = PanelFigure(height, [*used, f"{zero} (zero)"], "", layout=None, width=WIDTH)
    cell = chart.above.add_axes(((left + 0.1) / WIDTH, below / height, axis / WIDTH, depth / height))
    limits = axis_limits(rows)
    _prepare(cell, depth, limits, axis, "\n".join(caption), heading)
    y = 0.0
    for name, numbers in groups:
        if name:
            y += _ABOVE_HEADING
            _write(cell, 0.0, y + above[name] / 2, "\n".join(headings[name]), (-72 * left, 0), fontweight="bold")
            y += above[name]
        for number in numbers:
            middle = y + heights[number] / 2
            _write(cell, 0.0, middle, labels[number], (-72 * left + 5, 0))
            _write(cell, 1.0, middle, texts[number], (72 * _GAP, 0))
            _draw(cell, rows[number], middle, limits, _look(rows[number].kind, kinds, hollow))
            y += heights[number]
    return chart.finish(_key({kind: _look(kind, kinds, hollow) for kind in used}, rows), settle=False)


def axis_limits(rows: Sequence[ForestRow], furthest: float = 1.0) -> tuple[float, float]:
    """From where to where the axis goes: every interval, unless the narrowest would then be lost to sight.

    Estimates and ends beyond `furthest`, which no difference of outcomes from 0 to 1 can reach, are left out.

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
    """Whether an end, which there is, lies beyond the axis."""
    return math.isfinite(end) and not limits[0] <= end <= limits[1]


def marks_in_words(rows: Sequence[ForestRow]) -> str:
    """What arrows and slashes mean, as far as a plot of these rows has any."""
    limits, ends = axis_limits(rows), [end for row in rows for piece in row.pieces for end in piece]
    arrows = " An arrow: the set has no end on that side." if any(map(math.isinf, ends)) else ""
    cut = (
        " Two slashes: it ends beyond the axis; the numbers say where."
        if any(is_cut(e, limits) for e in ends)
        else ""
    )
    beyond = (
        " A hollow triangle: the estimate lies beyond the axis, where no effect can be."
        if any(row.value is not None and is_cut(row.value, limits) for row in rows)
        else ""
    )
    return arrows + cut + beyond


def _prepare(
    cell: Axes, depth: float, limits: tuple[float, float], inches: float, x_label: str, heading: str
) -> None:
    cell.set_ylim(depth, 0.0)
    cell.tick_params(axis="y", left=False, labelleft=False)
    cell.tick_params(axis="x", labelsize=TEXT)
    cell.spines["left"].set_visible(False)
    cell.xaxis.set_major_formatter(lambda value, _: written(value))
    set_ticks(cell, *limits, inches)
    cell.grid(axis="x", color=FAINT, linewidth=0.6)
    cell.set_axisbelow(True)
    cell.axvline(0.0, color=GREY, linewidth=0.9, zorder=1)
    cell.set_xlabel(x_label, fontsize=TITLE)
    _write(cell, 1.0, -0.1, heading, (72 * _GAP, 0), fontweight="bold")


def _write(cell: Axes, x: float, y: float, text: str, offset: tuple[float, float], **look: Any) -> None:
    cell.annotate(
        text,
        (x, y),
        xycoords=cell.get_yaxis_transform(),
        xytext=offset,
        textcoords="offset points",
        annotation_clip=False,
        va="center",
        fontsize=TEXT,
        **look,
    )


def _look(kind: str, kinds: Sequence[str], hollow: Sequence[str]) -> _Look:
    if kind in hollow:
        return _Look(GREY, _MARKERS[0], is_hollow=True)
    number = kinds.index(kind)
    return _Look(COLOURS[number % 7], _MARKERS[number % len(_MARKERS)], is_hollow=False)


def _draw(cell: Axes, row: ForestRow, y: float, limits: tuple[float, float], look: _Look) -> None:
    colour, low_end, high_end = look.colour, *limits
    for low, high in row.pieces:
        start, end = (min(max(one, low_end), high_end) for one in (low, high))
        cell.plot([start, end], [y, y], color=colour, linewidth=1.2, solid_capstyle="butt", zorder=3)
        for at, exact, arrow in ((start, low, "<"), (end, high, ">")):
            shape = _end_mark(exact, limits, arrow)
            cell.plot([at], [y], color=colour, linestyle="none", clip_on=False, zorder=3, **shape)
    if row.bar is not None:
        low, high = max(row.bar[0], low_end), min(row.bar[1], high_end)
        filled = "white" if look.is_hollow else colour
        cell.barh(y, high - low, 0.1, low, facecolor=filled, edgecolor=colour, linewidth=1.0, alpha=0.75, zorder=3.5)
    if row.value is not None and is_cut(row.value, limits):
        at, marker = (low_end, "<") if row.value < low_end else (high_end, ">")
        mark = {
            **look.mark,
            "marker": marker,
            "markersize": 6.5,
            "markerfacecolor": "white",
            "markeredgecolor": colour,
        }
        cell.plot([at], [y], linestyle="none", clip_on=False, zorder=4, **mark, markeredgewidth=1.0)
    elif row.value is not None:
        cell.plot([row.value], [y], linestyle="none", zorder=4, **look.mark, markeredgewidth=0.6)


def _end_mark(end: float, limits: tuple[float, float], arrow: str) -> dict[str, Any]:
    from matplotlib.path import Path

    if math.isinf(end):
        return {"marker": arrow, "markersize": 4.5}
    if is_cut(end, limits):
        slashes = Path([(-0.7, -1), (0.1, 1), (-0.1, -1), (0.7, 1)], [1, 2, 1, 2])  # move, line, move, line
        return {"marker": slashes, "markersize": 7, "markerfacecolor": "none", "markeredgewidth": 1.1}
    return {"marker": "|", "markersize": 6}


def _key(used: Mapping[str, _Look], rows: Sequence[ForestRow]) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    barred = {row.kind for row in rows if row.bar is not None}
    handles: list[Artist] = []
    for kind, look in used.items():
        if kind in barred and not look.is_hollow:
            handles.append(Patch(facecolor=look.colour, alpha=0.75))
        else:
            handles.append(Line2D([], [], linewidth=1.2, **look.mark))
    return [*handles, Line2D([], [], color=GREY, linewidth=0.9)]
