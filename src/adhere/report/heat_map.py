"""Heat map of a table of estimates, with a number in each cell: blue above zero, orange below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars

from adhere.report.style import (
    COLOURS,
    DARK,
    FAINT,
    GREY,
    LINE,
    TEXT,
    broken,
    empty_figure,
    in_order,
    need,
    width_of,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shade = tuple[float, float, float]
_CELL_WIDTH, _CELL_HEIGHT, _HEADING = 0.5, 0.2, 0.24  # inches
_WIDEST_LABEL = 1.75  # inches, for row labels
_SLANT = 40  # degrees, for the labels above columns
_EDGE = 0.08  # inches around everything
_LEAST_WIDTH = 7.6  # inches; on a full-width page the text is as large as in other figures
_FOOT = 0.5  # inches for the scale below
_LEAST = 0.02  # minimum value of the strongest colours, so that small differences look small
_SCALE = 2.4  # inches for the scale, before its label
_STEPS = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)
_SHADES = 101  # number of shades of the scale
_FULL_SHADE = 0.3  # shortfall of coverage with the strongest orange
_PALE = 0.35  # strongest blue, for sufficient coverage
_COVERED = (
    "Per cent of trials in which the interval held the truth. Orange: fewer than {bar:.0%}. Blank: nothing is "
    "promised there, or nothing was given."
)
_MARKED = "bold and underlined: the 95% interval excludes 0"


def heat_map(table: polars.DataFrame, *, label: str, note: str = "", marks: bool = True) -> Figure:
    """Draw a coloured cell for each row of a table, with its mean in it.

    With `marks`, cells with an interval that excludes 0 are marked, and means have a sign.

    The table has the columns `row`, `column`, `mean`, `low` and `high`. Rows and columns keep the order of first
    appearance; cells that are not in the table are empty. `label` describes the numbers. The strength of a colour is
    proportional to the square root of the number, so that small differences are visible beside large ones. The figure
    is a page wide, or wider if its columns need it.
    """
    need(table, "row", "column", "mean", "low", "high")
    notes = [part for part in (note, _MARKED * marks) if part]
    grid = _Grid(table.with_columns(group=polars.lit("")), notes, _FOOT)
    most = _round_up(max(_LEAST, *map(abs, table["mean"])))
    for entry in table.iter_rows(named=True):
        mean, low, high = entry["mean"], entry["low"], entry["high"]
        marked = marks and low is not None and high is not None and (low > 0 or high < 0)
        said = short(mean) if marks else short(mean).lstrip("+")
        grid.fill("", entry["row"], entry["column"], said, _shade(mean, most), bold=marked, underlined=marked)
    figure, width, height = grid.figure, grid.width, grid.height
    top = _EDGE + grid.foot
    scale = figure.add_axes(((_EDGE + 0.12) / width, (top - 0.3) / height, 2.0 / width, 0.09 / height))
    _draw_scale(scale, most)
    text: dict[str, Any] = {"fontsize": TEXT, "color": DARK, "ha": "left", "va": "center"}
    figure.text(_SCALE / width, (top - 0.26) / height, "\n".join(broken(label, width - _EDGE - _SCALE)), **text)
    return figure


def coverage_map(table: polars.DataFrame, bar: float) -> Figure:
    """Draw a table of shares as coloured cells: orange if the share is below `bar`, blue otherwise.

    The table has the columns `group`, `row`, `column` and `coverage` (null if there is none). Rows are under the
    headings of their groups; all keep the order of first appearance.
    """
    grid = _Grid(table, [_COVERED.format(bar=bar)], 0.05)
    for entry in table.unique(["group", "row", "column"], keep="last", maintain_order=True).iter_rows(named=True):
        share, is_short = entry["coverage"], False
        if share is None:
            shade, said = (0.96, 0.96, 0.96), "–"
        else:
            is_short = share < bar
            part = _PALE * (share - bar) / (1 - bar)
            part = max(min(1.0, (bar - share) / _FULL_SHADE) ** 0.5, 0.25) if is_short else part
            shade = _mixed(COLOURS[1] if is_short else COLOURS[0], part)
            said = "100" if share == 1 else f"{100 * share:.1f}"
        grid.fill(entry["group"], entry["row"], entry["column"], said, shade, bold=is_short)
    return grid.figure


class _Grid:
    """Grid of empty cells, with row labels under headings and slanted column labels; y is in inches downwards."""

    def __init__(self, table: polars.DataFrame, notes: Sequence[str], foot: float) -> None:
        self._columns = in_order(table["column"])
        order = {group: place for place, group in enumerate(in_order(table["group"]))}
        rows = table.select("group", "row").unique(maintain_order=True).rows()
        rows.sort(key=lambda one: order[one[0]])
        labels, self._tops, depth = [], {}, 0.0
        for number, (group, row) in enumerate(rows):
            if group and (not number or rows[number - 1][0] != group):
                labels.append((group, depth + 0.6 * _HEADING, "bold"))
                depth += _HEADING
            lines = broken(row, _WIDEST_LABEL)
            self._tops[group, row] = depth, _CELL_HEIGHT + LINE * (len(lines) - 1)
            depth += self._tops[group, row][1]
            labels.append(("\n".join(lines), depth - self._tops[group, row][1] / 2, "normal"))
        left = max(width_of(line, TEXT, weight) for text, _, weight in labels for line in text.split("\n")) + 0.06
        top, beyond = _room_above(self._columns)
        across = _CELL_WIDTH * len(self._columns)
        self.width = max(left + across + max(beyond - _CELL_WIDTH / 2, 0.0) + 2 * _EDGE, _LEAST_WIDTH)
        said = [line for part in notes for line in broken(part, self.width - 2 * _EDGE)]
        self.foot = foot + LINE * len(said)
        self.height = top + depth + self.foot + 2 * _EDGE
        self.figure = empty_figure(self.width, self.height)
        place = (_EDGE + left) / self.width, (_EDGE + self.foot) / self.height
        self._cell = cell = self.figure.add_axes((*place, across / self.width, depth / self.height))
        cell.set_xlim(0, len(self._columns))
        cell.set_ylim(depth, 0.0)
        cell.set_axis_off()
        for text, y, weight in labels:
            at, side = (-left / _CELL_WIDTH, "left") if weight == "bold" else (-0.1, "right")
            cell.text(at, y, text, fontsize=TEXT, fontweight=weight, ha=side, va="center")
        for number, column in enumerate(self._columns):
            turned: dict[str, Any] = {"rotation": _SLANT, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
            cell.text(number + 0.4, -0.04, column, fontsize=TEXT, **turned)
        corner = _EDGE / self.width, _EDGE / self.height
        self.figure.text(*corner, "\n".join(said), fontsize=TEXT, color=DARK, va="bottom")

    def fill(
        self, group: str, row: str, column: str, said: str, shade: Shade, *, bold: bool, underlined: bool = False
    ) -> None:
        """Colour a cell, and write text in it."""
        from matplotlib.patches import Rectangle

        (top, height), left = self._tops[group, row], self._columns.index(column)
        self._cell.add_patch(Rectangle((left, top), 1, height, facecolor=shade, edgecolor="white", linewidth=1))
        x, y = left + 0.5, top + height / 2
        look: dict[str, Any] = {"color": "white" if _is_dark(shade) else "black"}
        weight = "bold" if bold else "normal"
        self._cell.text(x, y, said, ha="center", va="center_baseline", fontsize=TEXT, fontweight=weight, **look)
        if underlined:
            half = width_of(said, TEXT, "bold") / 2 / _CELL_WIDTH
            self._cell.plot([x - half, x + half], [y + 0.062] * 2, linewidth=0.7, solid_capstyle="butt", **look)


def _round_up(value: float) -> float:
    """Return the next larger round number with a round quarter.

    >>> _round_up(1.09), _round_up(0.3), _round_up(0.04)
    (1.2, 0.32, 0.04)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(round(step * power, 12) for step in _STEPS if value <= step * power * (1 + 1e-9))


def _room_above(columns: Sequence[str]) -> tuple[float, float]:
    """Return the height of the slanted column labels, and how far the last one extends beyond its cell's middle."""
    widths = [width_of(column, TEXT) for column in columns]
    angle = math.radians(_SLANT)
    return max(widths) * math.sin(angle) + 0.2, widths[-1] * math.cos(angle) + 0.12


def short(value: float) -> str:
    """Format a difference for a cell, with its sign and without a zero before the decimal point.

    >>> short(0.0841), short(-0.9), short(0.0001), short(-1.234)
    ('+.084', '−.900', '.000', '−1.23')
    """
    text = f"{value:+.3f}" if abs(value) < 0.9995 else f"{value:+.2f}"
    return ".000" if text.lstrip("+-") == "0.000" else text.replace("0.", ".", 1).replace("-", "−")


def _shade(value: float, most: float) -> Shade:
    """Return a colour from white at zero to blue above and orange below, by the square root of the value."""
    return _mixed(COLOURS[0] if value > 0 else COLOURS[1], min(1.0, abs(value) / most) ** 0.5)


def _mixed(colour: str, strength: float) -> Shade:
    """Return a colour mixed with white, with the given strength."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def _is_dark(shade: Shade) -> bool:
    """Return whether white text is more readable on the shade than black text."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, shade)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.2


def _draw_scale(cell: Axes, most: float) -> None:
    """Draw the colour scale with its numbers, on a square-root axis."""
    roots = [2 * (number + 0.5) / _SHADES - 1 for number in range(_SHADES)]
    cell.imshow([[_shade(most * root * abs(root), most) for root in roots]], extent=(-1, 1, 0, 1), aspect="auto")
    ticks = [sign * part * most for sign in (-1, 1) for part in (1.0, 0.25)] + [0.0]
    places = [(1 if tick > 0 else -1) * (abs(tick) / most) ** 0.5 for tick in ticks]
    cell.set_xlim(-1, 1)
    cell.set_yticks([])
    cell.set_xticks(places, [written(tick) for tick in ticks], fontsize=TEXT)
    cell.tick_params(length=2, color=GREY, pad=1.5)
    for spine in cell.spines.values():
        spine.set_color(FAINT)
