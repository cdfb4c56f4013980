"""Means along an axis with their bands, drawn: panels side by side, a line for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adhere.report.style import (
    GREY,
    TEXT,
    TITLE,
    WIDTH,
    Foot,
    broken,
    in_order,
    look,
    need,
    set_ticks,
    settle,
    split_figure,
    written,
)

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS: tuple[dict[str, Any], ...] = (
    {"linestyle": "-"},
    {"linestyle": (0, (5, 1.5))},
    {"linestyle": (0, (1, 1))},
    {"linestyle": (0, (6, 1.5, 1, 1.5))},
    {"linestyle": "-", "marker": "v", "markersize": 4.2, "markeredgecolor": "white", "markeredgewidth": 0.6},
    {"linestyle": (0, (3, 1, 1, 1, 1, 1))},
)
_APART = 0.18  # from one mark to the next on a line, as a share of the panel's diagonal
_MANY = 6  # series, from which on bands fade


def lines(
    table: polars.DataFrame,
    *,
    panels: str,
    series: str,
    x: str = "t",
    y_label: str,
    x_label: str = "patients",
    n_columns: int = 2,
    share_y: bool = True,
    zero: str = "uniform randomisation",
    note: str = "",
) -> Figure:
    """Means along x with their bands: a panel for each value of one column, a line for each of another.

    The table has the columns named by `panels`, `series` and `x`, and `mean`, `lo` and `hi`; where `lo` is null there
    is no band. Panels and series keep the order they first appear in; a series looks the same in every panel. `zero`
    says what the zero line is; without it there is none. `note` goes under the legend, a paragraph for each line.
    """
    need(table, panels, series, x, "mean", "lo", "hi")
    titles, names = in_order(table[panels]), in_order(table[series])
    along = table[x].cast(float).to_list()
    n_columns = min(n_columns, len(titles))
    n_rows = -(-len(titles) // n_columns)
    panel_width = (WIDTH - 0.25) / n_columns - 0.35
    headings = ["\n".join(broken(str(title), panel_width, TITLE, "bold")) for title in titles]
    foot = Foot([*map(str, names), *([f"{zero} (zero)"] if zero else [])], note)
    height = (1.25 + 0.75 * panel_width / 2 + 0.15 * max(h.count("\n") for h in headings)) * n_rows

    figure, above, below = split_figure(height, foot)
    cells = above.subplots(n_rows, n_columns, squeeze=False, sharex="all", sharey="all" if share_y else "none").flat
    for number, cell in enumerate(cells):
        if number >= len(titles):
            cell.remove()
            continue
        if number + n_columns >= len(titles):
            # Nothing stands below this one.
            cell.xaxis.set_tick_params(labelbottom=True)
            cell.set_xlabel("\n".join(broken(x_label, panel_width, TITLE)), fontsize=TITLE)
        _draw(cell, table.filter(table[panels] == titles[number]), names, series, x, bool(zero))
        cell.set_title(headings[number], loc="left", fontsize=TITLE, fontweight="bold")
        set_ticks(cell, min(0.0, *along), max(along), panel_width)
    above.supylabel("\n".join(broken(y_label, height - 0.5, TITLE)), fontsize=TITLE)
    foot.draw(below, above.axes[0].get_lines())
    return settle(figure)


def _draw(cell: Axes, rows: polars.DataFrame, names: Sequence[object], series: str, x: str, zero: bool) -> None:
    for number, name in enumerate(names):
        one = rows.filter(rows[series] == name).sort(x)
        t, mean, lo, hi = (one[column].cast(float).to_numpy() for column in (x, "mean", "lo", "hi"))
        colour, shape = look(number, _LOOKS)
        cell.plot(t, mean, color=colour, linewidth=1.2, markevery=(_APART / 2, _APART), **shape)
        cell.fill_between(t, lo, hi, color=colour, alpha=0.18 if len(names) <= _MANY else 0.09, linewidth=0)
    if zero:
        cell.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
    cell.yaxis.set_major_formatter(lambda value, _: written(value))
    cell.tick_params(labelsize=TEXT)
