"""Figure of points: an estimate with its interval on each axis; points that no other point dominates are marked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from adhere.errors import InputError
from adhere.report.style import DARK, FAINT, GREY, INKS, LINE, TEXT, TITLE, PanelFigure, set_ticks, width_of

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_DISTANCES = (7.0, 13.0, 21.0, 31.0, 43.0, 57.0, 73.0, 91.0)  # points from a mark to the nearest edge of its label
_N_ANGLES = 16
_COVERED = 3.0  # cost of covering a line, in points of distance


class Box(NamedTuple):
    """Rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """Width of the box."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Height of the box."""
        return self.top - self.bottom

    def overlaps(self, other: Box) -> bool:
        """Return whether the two boxes overlap."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.top <= other.bottom or other.top <= self.bottom)

    def inside(self, other: Box) -> bool:
        """Return whether the box is completely inside another one."""
        wide = other.left <= self.left and self.right <= other.right
        return wide and other.bottom <= self.bottom and self.top <= other.top


def label_places(
    marks: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    area: Box,
    taken: Sequence[Box],
    lines: Sequence[Box] = (),
) -> list[Box | None]:
    """Place a label near each mark, inside the area, so that it covers no `taken` box and no other label.

    A place that covers one of the `lines`, such as an interval, is used only if other places are much farther away.
    The result is None for a label without a place.

    >>> area = Box(0, 0, 100, 100)
    >>> one, other = label_places([(50, 50), (50, 52)], [(30, 8), (30, 8)], area, taken=[])
    >>> one.overlaps(other)
    False
    """
    placed: dict[int, Box] = {}
    # Crowded marks have few free places, so their labels come first.
    near = [sum(math.dist(one, other) for other in marks) for one in marks]
    for number in sorted(range(len(marks)), key=near.__getitem__):
        found: tuple[float, Box] | None = None
        for away, box in _candidates(marks[number], sizes[number]):
            if not box.inside(area) or any(box.overlaps(other) for other in (*taken, *placed.values())):
                continue
            cost = away + _COVERED * sum(box.overlaps(line) for line in lines)
            if found is None or cost < found[0]:
                found = cost, box
        if found is not None:
            placed[number] = found[1]
    return [placed.get(number) for number in range(len(marks))]


def _candidates(mark: tuple[float, float], size: tuple[float, float]) -> Iterator[tuple[float, Box]]:
    """Iterate over places around a mark, with their distances."""
    (x, y), (width, height) = mark, size
    for away in _DISTANCES:
        for number in range(_N_ANGLES):
            angle = 2 * math.pi * number / _N_ANGLES
            cos, sin = math.cos(angle), math.sin(angle)
            # The nearest edge or corner of the label is at this distance, in this direction.
            centre_x = x + away * cos + (width / 2) * _side(cos)
            centre_y = y + away * sin + (height / 2) * _side(sin)
            left, bottom = centre_x - width / 2, centre_y - height / 2
            yield away, Box(left, bottom, left + width, bottom + height)


def _side(part: float) -> float:
    """Return on which side of its mark a label is: -1 or 1, or 0 if the direction is nearly perpendicular."""
    return 0.0 if abs(part) < 0.2 else math.copysign(1.0, part)


_WIDTH = 7.6  # inches, the width of a page, so that there is room for many names
_PANEL = 4.0  # inches of height
_AXIS = 6.8  # approximate width in inches
_MARGIN = 0.14  # margin around a panel's content, as a share of it, for labels
_MARK = 5.5  # points
_BEST, _OTHER = INKS[1], INKS[0]
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))
_FAR = 9.0  # points from a mark; a label farther away has a thin line to its mark
_ALL, _NEAR = "every point", "the box above, larger"


class _Point(NamedTuple):
    label: str
    series: str | None
    x: float
    x_low: float
    x_high: float
    y: float
    y_low: float
    y_high: float


def not_dominated(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return, for each point, whether no other point is at least as large in both coordinates and larger in one.

    >>> not_dominated([(0.0, 0.0), (-1.0, 1.0), (-2.0, 0.5), (-1.0, 0.9)])
    [True, True, False, False]
    """
    return [not any(x >= a and y >= b and (x, y) != (a, b) for x, y in points) for a, b in points]


def frontier(table: polars.DataFrame, *, x_label: str, y_label: str, note: str = "") -> Figure:
    """Draw a point for each row of a table; farther to the right and higher are better.

    The table has the columns `label`, `series`, and `x` and `y` with `x_low`, `x_high`, `y_low`, `y_high`. Points of
    one series are joined in the order of the table, and the legend names the series; `series` may be null. Points
    that no other point dominates are marked. If distant points would crowd these points together, a second panel
    magnifies their surroundings. Each label is in the panel with more room for it.
    """
    from matplotlib.lines import Line2D

    points = _points(table)
    best = not_dominated([(one.x, one.y) for one in points])
    everything, near = _span(points), _span([one for one, its in zip(points, best, strict=True) if its])
    inside = [near.left < one.x < near.right and near.bottom < one.y < near.top for one in points]
    is_far_smaller = near.width < 0.6 * everything.width or near.height < 0.6 * everything.height
    zooms = not all(inside) and is_far_smaller
    panels = [_ALL, _NEAR] if zooms else [""]
    series = list(dict.fromkeys(one.series for one in points if one.series is not None))
    key = {"nothing is better on both axes": _look(_BEST), "something is": _look(_OTHER)}
    key |= {name: _line(number) for number, name in enumerate(series)}
    chart = PanelFigure(_PANEL * len(panels), list(key), note, width=_WIDTH)
    cells = chart.panels(panels, 1)
    for cell, box in zip(cells, (everything, near) if zooms else (everything,), strict=True):
        _draw(cell, points, best, box)
    if zooms:
        _outline(cells[0], near)
    cells[-1].set_xlabel(x_label, fontsize=TITLE)
    chart.above.supylabel(y_label, fontsize=TITLE)
    figure = chart.finish([Line2D([], [], **look) for look in key.values()])
    shown = [[not its for its in inside], inside] if zooms else [[True] * len(points)]
    for cell, its in zip(cells, shown, strict=True):
        _label(cell, points, its)
    return figure


def _points(table: polars.DataFrame) -> list[_Point]:
    missing = [column for column in _Point._fields if column not in table.columns]
    if missing or table.is_empty():
        raise InputError("table", table.columns, f"a row at least, and the columns {', '.join(_Point._fields)}")
    return [_Point(*row) for row in table.select(_Point._fields).iter_rows()]


def _span(points: Sequence[_Point]) -> Box:
    """Return the box that contains all points and intervals and the origin, with a margin."""
    left, right = _with_margin([0.0, *(end for one in points for end in (one.x_low, one.x_high))])
    bottom, top = _with_margin([0.0, *(end for one in points for end in (one.y_low, one.y_high))])
    return Box(left, bottom, right, top)


def _with_margin(ends: Sequence[float]) -> tuple[float, float]:
    margin = _MARGIN * (max(ends) - min(ends)) or 0.01
    return min(ends) - margin, max(ends) + margin


def _draw(cell: Axes, points: Sequence[_Point], best: Sequence[bool], span: Box) -> None:
    from matplotlib.ticker import MaxNLocator

    cell.axhline(0.0, color=GREY, linewidth=0.7, zorder=0)
    cell.axvline(0.0, color=GREY, linewidth=0.7, zorder=0)
    for number, series in enumerate(dict.fromkeys(one.series for one in points if one.series is not None)):
        joined = [one for one in points if one.series == series]
        cell.plot([one.x for one in joined], [one.y for one in joined], **_line(number), zorder=1)
    for one, its in zip(points, best, strict=True):
        colour = _BEST if its else _OTHER
        cell.plot([one.x_low, one.x_high], [one.y, one.y], color=colour, linewidth=0.7, alpha=0.4, zorder=2)
        cell.plot([one.x, one.x], [one.y_low, one.y_high], color=colour, linewidth=0.7, alpha=0.4, zorder=2)
        look = _look(colour)
        cell.plot([one.x], [one.y], zorder=3, **look)
    set_ticks(cell, span.left, span.right, _AXIS)
    cell.set_ylim(span.bottom, span.top)
    cell.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    cell.grid(color=FAINT, linewidth=0.5)
    cell.set_axisbelow(True)


def _look(colour: str) -> dict[str, Any]:
    """Return the style of a mark: a filled square or a hollow dot, which differ even without colours."""
    face = colour if colour == _BEST else "white"
    marker = "s" if colour == _BEST else "o"
    return {"marker": marker, "markersize": _MARK - 1, "color": face, "markeredgecolor": colour, "linestyle": "none"}


def _line(number: int) -> dict[str, Any]:
    return {"color": DARK, "linewidth": 0.8, "linestyle": _DASHES[number % len(_DASHES)]}


def _outline(cell: Axes, span: Box) -> None:
    from matplotlib.patches import Rectangle

    corner, size = span[:2], (span.width, span.height)
    cell.add_patch(Rectangle(corner, *size, fill=False, edgecolor=DARK, linewidth=0.7, linestyle=":"))


def _label(cell: Axes, points: Sequence[_Point], shown: Sequence[bool]) -> None:
    """Write labels beside the `shown` points, without covering any point of the panel."""
    figure = cell.get_figure(root=True)
    assert figure is not None
    per_point = figure.dpi / 72

    def seen(x: float, y: float) -> tuple[float, float]:
        pixel = cell.transData.transform((x, y))
        return float(pixel[0]) / per_point, float(pixel[1]) / per_point

    area = Box(*(float(edge) / per_point for edge in cell.bbox.extents))
    marks = [seen(one.x, one.y) for one in points]
    taken = [Box(x - _MARK / 2, y - _MARK / 2, x + _MARK / 2, y + _MARK / 2) for x, y in marks]
    (x, y), (left, bottom, right, top) = seen(0.0, 0.0), area
    bars = [Box(left, y - 0.5, right, y + 0.5), Box(x - 0.5, bottom, x + 0.5, top)]
    for one in points:
        (left, y), (right, _) = seen(one.x_low, one.y), seen(one.x_high, one.y)
        (x, bottom), (_, top) = seen(one.x, one.y_low), seen(one.x, one.y_high)
        bars += [Box(left, y - 0.5, right, y + 0.5), Box(x - 0.5, bottom, x + 0.5, top)]
    named = [number for number, its in enumerate(shown) if its]
    sizes = [(72 * width_of(points[number].label, TEXT), 72 * LINE * 0.85) for number in named]
    places = label_places([marks[number] for number in named], sizes, area, taken, bars)
    for number, box in zip(named, places, strict=True):
        if box is not None:
            _write(cell, points[number], marks[number], box)


def _write(cell: Axes, one: _Point, mark: tuple[float, float], box: Box) -> None:
    middle = (box.left + box.right) / 2, (box.bottom + box.top) / 2
    nearest = (min(max(mark[0], box.left), box.right), min(max(mark[1], box.bottom), box.top))
    away = max(abs(nearest[0] - mark[0]), abs(nearest[1] - mark[1]))
    place: dict[str, Any] = {"xycoords": "data", "textcoords": "offset points", "annotation_clip": False}
    cell.annotate(
        one.label,
        (one.x, one.y),
        xytext=(middle[0] - mark[0], middle[1] - mark[1]),
        ha="center",
        va="center",
        fontsize=TEXT,
        color=DARK,
        zorder=5,
        **place,
    )
    if away > _FAR:
        end = (nearest[0] - mark[0], nearest[1] - mark[1])
        cell.annotate(
            "",
            (one.x, one.y),
            xytext=end,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3},
            zorder=1,
            **place,
        )
