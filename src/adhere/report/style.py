"""Style of all figures: colours, sizes, axis numbers, line breaks and legends; and figure files."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adhere.errors import InputError

if TYPE_CHECKING:
    import polars
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SETTINGS: Any = {
    "text.parse_math": False,  # a dollar sign in a name is literal
    "svg.hashsalt": "adhere",  # so that the same figure gives the same file
    "font.size": 8,  # points, for a figure half a page wide
    "axes.spines.top": False,
    "axes.spines.right": False,
}
SUFFIXES = (".png", ".svg")  # file types of a figure in a report
_RESOLUTION = 200
_NO_DATE = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}

# Okabe & Ito's colours, which nearly everybody can distinguish; the faintest on white is last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
WIDTH, PAGE_WIDTH = 4.8, 8.2  # inches: half a page wide, and a full page
TEXT, TITLE = 7, 8  # points
LINE = 0.125  # inches between lines of text
GREY, FAINT, DARK = "#888888", "#E4E4E4", "#333333"
INKS = COLOURS[:7]  # yellow is too faint for a thin line or a small dot on white
_HANDLE, _GAP, _EDGE, _PAD = 0.34, 0.16, 0.08, 0.05  # inches, in the legend and around it


def figure_file(figure: Figure, suffix: str) -> bytes:
    """Return the contents of a file with the figure; the suffix is .png, .svg or .pdf.

    Call this within `matplotlib.rc_context(SETTINGS)`, like the function that drew the figure.
    """
    kind = suffix.lower().removeprefix(".")
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=_RESOLUTION, metadata=_NO_DATE[kind])
    return file.getvalue()


def figure_files(draw: Callable[[], Figure], suffixes: Sequence[str] = SUFFIXES) -> dict[str, bytes]:
    """Draw a figure once, and return its contents by suffix; the same figure gives the same bytes."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        figure = draw()
        return {suffix: figure_file(figure, suffix) for suffix in suffixes}


def look(number: int, shapes: Sequence[Any]) -> tuple[str, Any]:
    """Return a colour and a shape (line style or marker); neighbours differ in both, and no pair is repeated.

    >>> look(0, "os^"), look(1, "os^"), look(7, "os^")
    (('#0072B2', 'o'), ('#D55E00', 's'), ('#0072B2', 's'))
    """
    colour = number % len(INKS)
    return INKS[colour], shapes[(colour + number // len(INKS)) % len(shapes)]


def need(table: polars.DataFrame, *columns: str) -> None:
    """Refuse a table that lacks a column or has nothing to draw."""
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise InputError("table", table.columns, f"the columns {', '.join(missing)} too")
    if table.is_empty() or not table["mean"].cast(float).is_finite().fill_null(False).all():
        raise InputError("table", table["mean"].to_list(), "a finite mean in each row, and a row at least")


def in_order(column: polars.Series) -> list[Any]:
    """Return the distinct values of a column in order of first appearance."""
    return column.unique(maintain_order=True).to_list()


def written(value: float) -> str:
    """Format a number for an axis.

    >>> written(10_000.0), written(-2.5), written(-0.0)
    ('10,000', '−2.5', '0')
    """
    return f"{round(value, 12) + 0.0:,.10g}".replace("-", "−")


def set_ticks(cell: Axes, low: float, high: float, inches: float) -> None:
    """Set the limits of the x axis, with as many round tick labels as fit."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    high = high if high > low else low + 1.0
    for n in (6, 5, 4, 3, 2, 1):
        ticks = [one for one in MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high) if low <= one <= high]
        widest = max((width_of(written(tick), TEXT) for tick in ticks), default=0.0)
        if len(ticks) < 2 or (ticks[1] - ticks[0]) / (high - low) * inches > 1.6 * widest:
            break
    cell.set_xlim(low, high)
    cell.xaxis.set_major_locator(FixedLocator(ticks))


@cache
def width_of(text: str, points: float, weight: str = "normal") -> float:
    """Return the width of a line of text in inches, with a margin because file types space letters differently."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=points, weight=weight), False)
    return 1.03 * float(width) / 72


def broken(text: str, inches: float, points: float = TEXT, weight: str = "normal") -> list[str]:
    """Break a text into lines of at most `inches`, after spaces, opening brackets and commas if possible."""

    def fits(line: str) -> bool:
        return width_of(line.rstrip(), points, weight) <= inches

    lines = [""]
    for piece in re.findall(r"[^(,\s]+[(,]*\s*|\W\s*", text):
        if lines[-1] and not fits(lines[-1] + piece):
            lines.append("")
        for part in [piece] if fits(piece) else piece:  # only pieces wider than a line are broken between letters
            if lines[-1] and not fits(lines[-1] + part):
                lines.append("")
            lines[-1] += part
    return [line.rstrip() for line in lines]


def empty_figure(width: float, height: float, layout: Any = None) -> Figure:
    """Return an empty figure with its size in inches, which can be drawn and measured."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def canvas(width: float, height: float, bottom: float, top: float) -> tuple[Figure, Axes]:
    """Return an empty figure with axes in inches: to the right, and vertically from `bottom` to `top`."""
    figure = empty_figure(width, height)  # no layout engine: the caller places everything
    cell = figure.add_axes((0, 0, 1, 1))
    cell.set(xlim=(0, width), ylim=(bottom, top))
    cell.set_axis_off()
    return figure, cell


class PanelFigure:
    """Figure with panels, and below the panels the legend (in as many columns as fit) and the note."""

    def __init__(
        self, height: float, labels: Sequence[str], note: str, layout: Any = "constrained", width: float = WIDTH
    ) -> None:
        self._width, room = width, width - 2 * _EDGE
        self._labels = ["\n".join(broken(label, room - _HANDLE - _GAP)) for label in labels]
        self._n_columns, legend_height = _legend_shape(self._labels, room)
        self._note = [line for part in note.splitlines() for line in broken(" ".join(part.split()), room)]
        foot = legend_height + LINE * len(self._note) + 2 * _PAD * (bool(labels) + bool(self._note))
        self._foot = foot or _PAD  # the layout engine needs a positive height
        self.figure = empty_figure(width, height + self._foot, layout)
        heights = [height, self._foot]
        self.above, self._below = self.figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]

    def panels(self, titles: Sequence[str], n_columns: int, **options: Any) -> list[Axes]:
        """Return an empty panel under each title, row by row; `options` are passed to `subplots`."""
        n_rows = -(-len(titles) // n_columns)
        cells = list(self.above.subplots(n_rows, n_columns, squeeze=False, **options).flat)
        for spare in cells[len(titles) :]:
            spare.remove()
        for cell, title in zip(cells, titles, strict=False):
            cell.set_title(title, loc="left", fontsize=TITLE, fontweight="bold")
            cell.xaxis.set_major_formatter(lambda value, _: written(value))
            cell.yaxis.set_major_formatter(lambda value, _: written(value))
            cell.tick_params(labelsize=TEXT)
        return cells[: len(titles)]

    def finish(self, handles: Iterable[Artist], settle: bool = True) -> Figure:
        """Draw the legend of these handles, in the order of the labels, and the note below it.

        With `settle`, the layout is computed once; otherwise every saved file would compute it again.
        """
        if self._labels:
            self._below.legend(
                list(handles),
                self._labels,
                loc="upper left",
                ncols=self._n_columns,
                frameon=False,
                fontsize=TEXT,
                labelspacing=0.25,
                borderpad=0,
                borderaxespad=0,
                bbox_to_anchor=(_EDGE / self._width, 1 - _PAD / self._foot),
                handlelength=2.6,
                handletextpad=0.6,
                columnspacing=1.2,
            )
        if self._note:
            place = {"x": _EDGE / self._width, "y": _PAD / self._foot, "va": "bottom", "ha": "left"}
            self._below.text(s="\n".join(self._note), fontsize=TEXT, color=DARK, **place)
        engine = self.figure.get_layout_engine()
        if settle and engine is not None:
            engine.execute(self.figure)
            self.figure.set_layout_engine(None)
        return self.figure


def _legend_shape(labels: Sequence[str], room: float) -> tuple[int, float]:
    """Return the largest number of legend columns that fit side by side, and the height of the tallest column."""
    widths = [_HANDLE + _GAP + max(width_of(line, TEXT) for line in label.split("\n")) for label in labels]
    for n_columns in range(len(labels), 0, -1):
        # Matplotlib fills column by column; if they are uneven, the first columns have one more entry.
        short, n_long = divmod(len(labels), n_columns)
        starts = [column * short + min(column, n_long) for column in range(n_columns + 1)]
        columns = [slice(start, end) for start, end in pairwise(starts)]
        if n_columns == 1 or sum(max(widths[column]) for column in columns) <= room + _GAP:
            return n_columns, max(sum(_height(label) for label in labels[column]) for column in columns)
    return 1, 0.0


def _height(label: str) -> float:
    n_lines = label.count("\n") + 1
    return LINE * n_lines + (0.02 if n_lines > 1 else 0.0)  # tall entries are further apart
