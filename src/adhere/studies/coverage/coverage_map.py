"""A table of shares, drawn as coloured cells: orange where an interval fell short of its bar, blue where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adhere.report.style import COLOURS, DARK, TEXT, broken, in_order, width_of

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT, _HEADING = 0.44, 0.19, 0.24  # inches, of a cell and of a heading
_LABEL = 2.9  # inches for the names of rows
_EDGE, _SLANT = 0.08, 40
_LEAST_WIDTH = 7.6  # inches: a page's
_FULL_SHADE = 0.3  # a shortfall of so much is as orange as can be
_PALE = 0.35  # as blue as what holds can be
_NOTE = (
    "Per cent of trials in which the interval held the truth. Orange: fewer than {bar:.0%}. Blank: nothing is "
    "promised there, or nothing was given."
)


def coverage_map(table: polars.DataFrame, bar: float) -> Figure:
    """A cell for each row of a table with the columns `group`, `row`, `column` and `coverage` (null: none given).

    Rows stand under the headings of their groups; all keep the order of first appearance.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = in_order(table["column"])
    groups = {group: in_order(table.filter(table["group"] == group)["row"]) for group in in_order(table["group"])}
    depth = sum(_HEADING + _HEIGHT * len(rows) for rows in groups.values())
    rise = 0.645 * max(width_of(column, TEXT) for column in columns) + 0.15
    reach = 0.77 * width_of(columns[-1], TEXT)
    width = max(_LEAST_WIDTH, _LABEL + _WIDTH * len(columns) + reach + 2 * _EDGE)
    notes = broken(_NOTE.format(bar=bar), width - 2 * _EDGE)
    foot = 0.14 * len(notes) + 0.05
    height = rise + depth + foot + 2 * _EDGE
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    across = width - 2 * _EDGE
    cell = figure.add_axes((_EDGE / width, (_EDGE + foot) / height, across / width, (depth + rise) / height))
    cell.set_xlim(0, across)
    cell.set_ylim(depth, -rise)
    cell.set_axis_off()
    for number, column in enumerate(columns):
        x = _LABEL + _WIDTH * (number + 0.4)
        turned: dict[str, Any] = {"rotation": _SLANT, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
        cell.text(x, -0.03, column, fontsize=TEXT, **turned)
    shares = {(one["group"], one["row"], one["column"]): one["coverage"] for one in table.to_dicts()}
    top = 0.0
    for group, rows in groups.items():
        cell.text(0, top + 0.6 * _HEADING, group, fontsize=TEXT, fontweight="bold", va="center")
        top += _HEADING
        for row in rows:
            cell.text(0.08, top + _HEIGHT / 2, _shortened(row), fontsize=TEXT, va="center")
            for number, column in enumerate(columns):
                if (group, row, column) in shares:
                    _fill(cell, _LABEL + _WIDTH * number, top, shares[group, row, column], bar)
            top += _HEIGHT
    figure.text(_EDGE / width, _EDGE / height, "\n".join(notes), fontsize=TEXT, color=DARK, va="bottom")
    return figure


def _shortened(text: str) -> str:
    while width_of(text, TEXT) > _LABEL - 0.15:
        text = f"{text[:-2]}…"
    return text


def _fill(cell: Axes, left: float, top: float, share: float | None, bar: float) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    if share is None:
        shade, said = (0.96, 0.96, 0.96), "–"
    else:
        is_short = share < bar
        red, green, blue = to_rgb(COLOURS[1] if is_short else COLOURS[0])
        part = min(1.0, (bar - share) / _FULL_SHADE) ** 0.5 if is_short else _PALE * (share - bar) / (1 - bar)
        part = max(part, 0.25) if is_short else part
        shade = (1 - part * (1 - red), 1 - part * (1 - green), 1 - part * (1 - blue))
        said = "100" if share == 1 else f"{100 * share:.1f}"
    cell.add_patch(Rectangle((left, top), _WIDTH, _HEIGHT, facecolor=shade, edgecolor="white", linewidth=1))
    weight = "bold" if share is not None and share < bar else "normal"
    text: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": TEXT, "fontweight": weight}
    cell.text(left + _WIDTH / 2, top + _HEIGHT / 2, said, **text)
