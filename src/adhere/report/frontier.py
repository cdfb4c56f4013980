"""Two estimates of each of several things, drawn as points with both intervals; those nothing beats are marked."""

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
_COVERED = 3.0  # how much worse a covered line is than a place that is one point farther away


class Box(NamedTuple):
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From the bottom to the top."""
        return self.top - self.bottom

    def overlaps(self, other: Box) -> bool:
        """Whether the two share an area."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.top <= other.bottom or other.top <= self.bottom)

    def inside(self, other: Box) -> bool:
        """Whether the other one holds it whole."""
        wide = other.left <= self.left and self.right <= other.right
        return wide and other.bottom <= self.bottom and self.top <= other.top


def label_places(
    marks: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    area: Box,
    taken: Sequence[Box],
    lines: Sequence[Box] = (),
) -> list[Box | None]:
    """For each mark a place for a label of its size: near it, inside the area, on nothing `taken` and on no other.

    Places that cover one of the `lines`, such as intervals, are taken only where others are much farther away. A
    label that finds no place has none.

    >>> area = Box(0, 0, 100, 100)
    >>> one, other = label_places([(50, 50), (50, 52)], [(30, 8), (30, 8)], area, taken=[])
    >>> one.overlaps(other)
    False
    """
    placed: dict[int, Box] = {}
    # Where marks stand close, few places are left: those labels first.
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
    """Places around a mark, with how far away they are."""
    (x, y), (width, height) = mark, size
    for away in _DISTANCES:
        for number in range(_N_ANGLES):
            angle = 2 * math.pi * number / _N_ANGLES
            cos, sin = math.cos(angle), math.sin(angle)
            # The label's nearest edge or corner lies in this direction, so many points away.
            centre_x = x + away * cos + (width / 2) * _side(cos)
            centre_y = y + away * sin + (height / 2) * _side(sin)
            left, bottom = centre_x - width / 2, centre_y - height / 2
            yield away, Box(left, bottom, left + width, bottom + height)


def _side(part: float) -> float:
    """To the left, to the right, or in the middle where the direction is nearly straight up or down."""
    return 0.0 if abs(part) < 0.2 else math.copysign(1.0, part)


_WIDTH = 7.6  # inches: a page, so that there is room for many names
_PANEL = 4.0  # inches of height
_AXIS = 6.8  # inches of width, about
_MARGIN = 0.14  # around what a panel shows, as a share of it: room for labels
_MARK = 5.5  # points
_BEST, _OTHER = INKS[1], INKS[0]
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))
_FAR = 9.0  # points from a mark, from which on a thin line leads to its label
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
    """Whether no other point is at least as far to the right and as high, and farther in one of the two.

    >>> not_dominated([(0.0, 0.0), (-1.0, 1.0), (-2.0, 0.5), (-1.0, 0.9)])
    [True, True, False, False]
    """
    return [not any(x >= a and y >= b and (x, y) != (a, b) for x, y in points) for a, b in points]


def frontier(table: polars.DataFrame, *, x_label: str, y_label: str, note: str = "") -> Figure:
    """A point for each row of a table; farther to the right and higher are better.

    The table has the columns `label`, `series` (points of one series are joined, in the order of the table, and the
    legend names it; null for none), and `x` and `y` with `x_low`, `x_high`, `y_low`, `y_high`. Points that no other
    dominates are marked. Where points far away would crowd these together, a second panel shows their surroundings
    larger; each label is in the panel where there is more room for it.
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
    """From where to where points and intervals go, the origin included, with room around them."""
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
    """A full square for what nothing dominates, a hollow dot for the others: told apart without colours too."""
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
    """Names beside some of the points; all points of the panel are kept clear."""
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
