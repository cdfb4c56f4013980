"""A table of estimates, drawn as coloured cells with a number in each: blue above zero, orange below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adhere.report.style import (
    COLOURS,
    DARK,
    FAINT,
    GREY,
    LINE,
    TEXT,
    broken,
    in_order,
    need,
    width_of,
    written,
)

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELL_WIDTH, _CELL_HEIGHT = 0.5, 0.2  # inches
_WIDEST_LABEL = 1.75  # inches, of a row's
_SLANT = 40  # degrees, of the labels above columns
_EDGE = 0.08  # inches around everything
_LEAST_WIDTH = 7.6  # inches: set over the whole width of a page, letters are as large as in other figures
_FOOT = 0.5  # inches for the scale below
_LEAST = 0.02  # of what the strongest colours stand for: differences smaller than that are small
_SCALE = 2.4  # inches for it, before what it is about
_STEPS = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)
_SHADES = 101  # of the scale
_MARKED = "bold and underlined: the 95% interval excludes 0"


def heat_map(table: polars.DataFrame, *, label: str, note: str = "", marks: bool = True) -> Figure:
    """A coloured cell for each row of a table, with its mean in it.

    With `marks` those whose interval excludes 0 are marked, and means have a sign.

    The table has the columns `row`, `column`, `mean`, `low` and `high`; rows and columns keep the order of first
    appearance, and a cell that is not in the table stays empty. `label` says what the numbers are. Colours grow with
    the square root of a number, so that small differences are seen beside large ones. The figure is a page wide, or
    as wide as its columns need.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    need(table, "row", "column", "mean", "low", "high")
    rows, columns = in_order(table["row"]), in_order(table["column"])
    labels = [broken(row, _WIDEST_LABEL) for row in rows]
    left = max(width_of(line, TEXT) for lines in labels for line in lines) + 0.06
    heights = [_CELL_HEIGHT + LINE * (len(lines) - 1) for lines in labels]
    top, beyond = _room_above(columns)
    across, depth = _CELL_WIDTH * len(columns), sum(heights)
    width = max(left + across + max(beyond - _CELL_WIDTH / 2, 0.0) + 2 * _EDGE, _LEAST_WIDTH)
    notes = [line for part in (note, _MARKED * marks) if part for line in broken(part, width - 2 * _EDGE)]
    foot = _FOOT + LINE * len(notes)
    height = top + depth + foot + 2 * _EDGE

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    place = ((_EDGE + left) / width, (_EDGE + foot) / height, across / width, depth / height)
    cell = figure.add_axes(place)
    _prepare(cell, labels, heights, columns)
    most = _round_up(max(_LEAST, *map(abs, table["mean"])))
    tops = [sum(heights[:number]) for number in range(len(heights))]
    for entry in table.iter_rows(named=True):
        number = rows.index(entry["row"])
        _fill(cell, columns.index(entry["column"]), tops[number], heights[number], entry, most, marks)
    scale = figure.add_axes(((_EDGE + 0.12) / width, (_EDGE + foot - 0.3) / height, 2.0 / width, 0.09 / height))
    _draw_scale(scale, most)
    text: dict[str, Any] = {"fontsize": TEXT, "color": DARK, "ha": "left"}
    said = "\n".join(broken(label, width - _EDGE - _SCALE))
    figure.text(_SCALE / width, (_EDGE + foot - 0.26) / height, said, va="center", **text)
    figure.text(_EDGE / width, _EDGE / height, "\n".join(notes), va="bottom", **text)
    return figure


def _round_up(value: float) -> float:
    """The next round number, a quarter of which is round too.

    >>> _round_up(1.09), _round_up(0.3), _round_up(0.04)
    (1.2, 0.32, 0.04)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(round(step * power, 12) for step in _STEPS if value <= step * power * (1 + 1e-9))


def _room_above(columns: Sequence[str]) -> tuple[float, float]:
    """How high the slanted labels of the columns reach, and how far the last one goes beyond its cell's middle."""
    widths = [width_of(column, TEXT) for column in columns]
    angle = math.radians(_SLANT)
    return max(widths) * math.sin(angle) + 0.2, widths[-1] * math.cos(angle) + 0.12


def _prepare(cell: Axes, labels: Sequence[Sequence[str]], heights: Sequence[float], columns: Sequence[str]) -> None:
    """Empty cells, inches downwards, with the labels around them."""
    depth = sum(heights)
    cell.set_xlim(0, len(columns))
    cell.set_ylim(depth, 0.0)
    cell.set_facecolor("#F6F6F6")
    for spine in cell.spines.values():
        spine.set_visible(False)
    middles = [sum(heights[:number]) + height / 2 for number, height in enumerate(heights)]
    cell.set_yticks(middles, ["\n".join(lines) for lines in labels], fontsize=TEXT)
    cell.set_xticks([number + 0.5 for number in range(len(columns))], [""] * len(columns))
    cell.tick_params(length=0)
    for number, column in enumerate(columns):
        cell.annotate(
            column,
            (number + 0.4, 0.0),
            xytext=(0, 3),
            textcoords="offset points",
            rotation=_SLANT,
            rotation_mode="anchor",
            ha="left",
            va="bottom",
            fontsize=TEXT,
            annotation_clip=False,
        )


def _fill(
    cell: Axes, column: int, top: float, height: float, entry: dict[str, Any], most: float, marks: bool
) -> None:
    from matplotlib.patches import Rectangle

    mean, low, high = entry["mean"], entry["low"], entry["high"]
    shade = _shade(mean, most)
    box = Rectangle((column, top), 1, height, facecolor=shade, edgecolor="white", linewidth=1)
    cell.add_patch(box)
    marked = marks and low is not None and high is not None and (low > 0 or high < 0)
    said = short(mean) if marks else short(mean).lstrip("+")
    x, y = column + 0.5, top + height / 2
    ink = "white" if _is_dark(shade) else "black"
    weight = "bold" if marked else "normal"
    cell.text(x, y, said, ha="center", va="center_baseline", fontsize=TEXT, fontweight=weight, color=ink)
    if marked:
        half = width_of(said, TEXT, "bold") / 2 / _CELL_WIDTH
        cell.plot([x - half, x + half], [y + 0.062] * 2, color=ink, linewidth=0.7, solid_capstyle="butt")


def short(value: float) -> str:
    """A difference in a cell, with its sign and without a zero before the point.

    >>> short(0.0841), short(-0.9), short(0.0001), short(-1.234)
    ('+.084', '−.900', '.000', '−1.23')
    """
    text = f"{value:+.3f}" if abs(value) < 0.9995 else f"{value:+.2f}"
    return ".000" if text.lstrip("+-") == "0.000" else text.replace("0.", ".", 1).replace("-", "−")


def _shade(value: float, most: float) -> tuple[float, float, float]:
    """From white at zero to blue above and orange below, by the square root of the value."""
    from matplotlib.colors import to_rgb

    strength = min(1.0, abs(value) / most) ** 0.5
    red, green, blue = to_rgb(COLOURS[0] if value > 0 else COLOURS[1])
    return 1 - strength * (1 - red), 1 - strength * (1 - green), 1 - strength * (1 - blue)


def _is_dark(shade: tuple[float, float, float]) -> bool:
    """Whether white letters are read better on it than black ones."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, shade)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.2


def _draw_scale(cell: Axes, most: float) -> None:
    """The colours and the numbers they stand for, as far apart as the colours are."""
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
