"""CONSORT flow diagram of patients: boxes and arrows, with a column for each arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from adhere.report.style import COLOURS, SETTINGS, broken, canvas, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BOX, LINE_HEIGHT = 0.2, 0.125  # height of a box with one line, and of each further line
LINE_COLOUR, PLAIN, STRONG, OTHER = "#333333", "#FFFFFF", "#E3EEF6", "#FBEADF"


def arrow(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """Draw a line along the points, with an arrowhead at the last one."""
    axes.plot(*zip(*points, strict=True), color=LINE_COLOUR, linewidth=0.7, solid_joinstyle="miter", zorder=1)
    head = {"arrowstyle": "-|>", "color": LINE_COLOUR, "linewidth": 0.7, "mutation_scale": 6}
    axes.annotate("", points[-1], points[-2], arrowprops={**head, "shrinkA": 0, "shrinkB": 0})


def box_height(text: str) -> float:
    """Return the height of the box of a text."""
    return BOX + LINE_HEIGHT * text.count("\n")


def box(axes: Axes, left: float, top: float, width: float, text: str, fill: str, dashed: bool = False) -> float:
    """Draw a box with its text, and return its lower edge."""
    from matplotlib.patches import Rectangle

    bottom = top - box_height(text)
    edge, style = (COLOURS[1], "--") if dashed else (LINE_COLOUR, "-")
    drawn = Rectangle(
        (left, bottom), width, top - bottom, facecolor=fill, edgecolor=edge, linestyle=style, linewidth=0.8, zorder=2
    )
    axes.add_patch(drawn)
    axes.text(left + width / 2, (top + bottom) / 2, text, ha="center", va="center", zorder=3)
    return bottom


# Inches, except for the text size.
WIDTH = 7.6
_MARGIN, _TOP_BOX, _SIDE_BOX = 0.06, 2.2, 2.1
_INDENT, _SPINE, _BETWEEN, _ABOVE_PART = 0.2, 0.08, 0.07, 0.09
_DROP, _FORK, _COLUMN_GAP, _BAND_GAP, _NOTE = 0.4, 0.3, 0.16, 0.12, 0.2
_TEXT, _PAD = 7, 0.1
_ACROSS = 5  # maximum number of columns side by side
_WIDEST = 3.0  # maximum width of a column


class FlowBox(NamedTuple):
    """Box with its text, whether its patients left the planned path, and whether extra space separates it."""

    text: str
    off_path: bool = False
    opens: bool = False


class FlowColumn(NamedTuple):
    """Column of an arm: a heading with the number assigned, and the boxes below it."""

    heading: str
    boxes: Sequence[FlowBox]


def consort_flow(top: str, left_out: Sequence[str], columns: Sequence[FlowColumn], note: str = "") -> Figure:
    """Draw all patients, the rows left out with reasons, and a column for each arm; the figure is a page wide.

    More than five arms continue in a second band. Boxes of patients who left the planned path are dashed.
    """
    import matplotlib

    n_bands = -(-len(columns) // _ACROSS)
    n_across = -(-len(columns) // n_bands)
    trunk = _COLUMN_GAP if n_bands > 1 else 0.0
    width = min(_WIDEST, (WIDTH - 2 * _MARGIN - trunk - _COLUMN_GAP * (n_across - 1)) / n_across)
    fitted = [_fit(one, width) for one in columns]
    bands = [fitted[start : start + n_across] for start in range(0, len(fitted), n_across)]
    top, aside = _wrapped(top, _TOP_BOX), "\n".join(_wrapped(one, _SIDE_BOX) for one in left_out)
    head = box_height(top) + (max(_DROP, box_height(aside) + 0.1) if aside else 0.0)
    depths = [_FORK + max(map(_depth, band)) for band in bands]
    height = 2 * _MARGIN + head + sum(depths) + _BAND_GAP * (n_bands - 1) + (_NOTE if note else 0.0)
    with matplotlib.rc_context({**SETTINGS, "font.size": _TEXT}):
        figure, axes = canvas(WIDTH, height, -height, 0)
        start = _draw_top(axes, top, aside, head)
        for number, (band, depth) in enumerate(zip(bands, depths, strict=True)):
            _draw_band(axes, band, width, start, trunk, number > 0)
            start -= depth + _BAND_GAP
        axes.text(_MARGIN, _MARGIN - height, note, fontsize=_TEXT, color="#444444", va="bottom")
    return figure


def _wrapped(text: str, width: float) -> str:
    """Break a text at spaces into lines that fit; a share in brackets is not broken."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, _TEXT) > width - _PAD:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(part for line in lines for part in broken(line, width - _PAD, _TEXT))


def _fit(column: FlowColumn, width: float) -> FlowColumn:
    boxes = [one._replace(text=_wrapped(one.text, width - _INDENT)) for one in column.boxes]
    return FlowColumn(_wrapped(column.heading, width), boxes)


def _depth(column: FlowColumn) -> float:
    gaps = sum(_BETWEEN + (_ABOVE_PART if one.opens else 0.0) for one in column.boxes)
    return box_height(column.heading) + gaps + sum(box_height(one.text) for one in column.boxes)


def _draw_top(axes: Axes, top: str, aside: str, head: float) -> float:
    """Draw the boxes above all columns, and return their lower edge."""
    middle = WIDTH / 2
    end = box(axes, middle - _TOP_BOX / 2, -_MARGIN, _TOP_BOX, top, STRONG)
    if aside:
        side, level = WIDTH - _MARGIN - _SIDE_BOX, (end - _MARGIN - head) / 2
        axes.plot([middle] * 2, [end, -_MARGIN - head], color=LINE_COLOUR, linewidth=0.7, zorder=1)
        arrow(axes, [(middle, level), (side, level)])
        box(axes, side, level + box_height(aside) / 2, _SIDE_BOX, aside, OTHER, dashed=True)
    return -_MARGIN - head


def _draw_band(
    axes: Axes, band: Sequence[FlowColumn], width: float, start: float, room: float, is_further: bool
) -> None:
    """Draw columns side by side in the middle of the page; a line at the left leads to a further band."""
    across = len(band) * width + (len(band) - 1) * _COLUMN_GAP
    fork = start - _FORK / 2
    trunk = (_MARGIN, -_MARGIN - BOX / 2) if is_further else (WIDTH / 2, start)
    if is_further:
        axes.plot([WIDTH / 2 - _TOP_BOX / 2, _MARGIN], [trunk[1]] * 2, color=LINE_COLOUR, linewidth=0.7, zorder=1)
    for number, column in enumerate(band):
        left = (WIDTH + room - across) / 2 + number * (width + _COLUMN_GAP)
        arrow(axes, [trunk, (trunk[0], fork), (left + width / 2, fork), (left + width / 2, start - _FORK)])
        _draw_column(axes, left, start - _FORK, width, column)


def _draw_column(axes: Axes, left: float, top: float, width: float, column: FlowColumn) -> None:
    end = first_end = box(axes, left, top, width, column.heading, STRONG)
    for one in column.boxes:
        end -= _BETWEEN + (_ABOVE_PART if one.opens else 0.0)
        spine, middle = left + _SPINE, end - box_height(one.text) / 2
        arrow(axes, [(spine, first_end), (spine, middle), (left + _INDENT, middle)])
        fill = OTHER if one.off_path else PLAIN
        end = box(axes, left + _INDENT, end, width - _INDENT, one.text, fill, dashed=one.off_path)
