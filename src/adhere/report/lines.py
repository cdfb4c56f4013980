"""Means along an axis with their bands, drawn: panels side by side, a line for each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adhere.report.style import FAINT, GREY, TITLE, WIDTH, PanelFigure, broken, in_order, look, need, set_ticks

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
_ZERO = "uniform randomisation (zero)"
_BEST = "always the best arm"
_PER_BAR, _WIDEST_STRIP = 0.035, 0.35  # the room of a bar and of all bars, as a share of the trial's length


def lines(
    table: polars.DataFrame,
    *,
    panels: str,
    series: str,
    y_label: str,
    n_columns: int = 2,
    share_y: bool = True,
    note: str = "",
    ends: polars.DataFrame | None = None,
    best: polars.DataFrame | None = None,
) -> Figure:
    """Means along the trial with their bands: a panel for each value of one column, a line for each of another.

    The table has the columns named by `panels` and `series`, the number of patients `t`, `mean`, `low` and `high`;
    where `low` is null there is no band. Panels and series keep the order they first appear in; a series looks the
    same in every panel. `note` goes under the legend, a paragraph for each line. `ends` has, by panel and series, the
    quantiles `q05`, `q25`, `q50`, `q75` and `q95` of what the series come to: bars to the right of the lines. `best`
    has, by panel and `t`, the `mean` of always choosing the best arm: a grey line.
    """
    need(table, panels, series, "t", "mean", "low", "high")
    titles, names = in_order(table[panels]), in_order(table[series])
    n_columns = min(n_columns, len(titles))
    panel_width = (WIDTH - 0.25) / n_columns - 0.35
    headings = ["\n".join(broken(str(title), panel_width, TITLE, "bold")) for title in titles]
    height = 1.25 + 0.75 * panel_width / 2 + 0.15 * max(heading.count("\n") for heading in headings)
    height *= -(-len(titles) // n_columns)

    chart = PanelFigure(height, [*map(str, names), _ZERO, *([] if best is None else [_BEST])], note)
    cells = chart.panels(headings, n_columns, sharex="all", sharey="all" if share_y else "none")
    for number, (cell, title) in enumerate(zip(cells, titles, strict=True)):
        if number + n_columns >= len(titles):
            # Nothing stands below this one.
            cell.xaxis.set_tick_params(labelbottom=True)
            cell.set_xlabel("patients", fontsize=TITLE)
        _draw(cell, table.filter(table[panels] == title), names, series)
        if best is not None:
            one = best.filter(best[panels] == title).sort("t")
            cell.plot(one["t"], one["mean"], color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
        first, last = min(0.0, *table["t"]), max(table["t"])
        if ends is None:
            set_ticks(cell, first, last, panel_width)
            continue
        strip = min(_WIDEST_STRIP, _PER_BAR * (len(names) + 1))
        set_ticks(cell, first, last, panel_width / (1 + strip))
        _draw_ends(cell, ends.filter(ends[panels] == title), names, series, last, strip * (last - first))
    chart.above.supylabel("\n".join(broken(y_label, height - 0.5, TITLE)), fontsize=TITLE)
    return chart.finish(cells[0].get_lines())


def _draw(cell: Axes, rows: polars.DataFrame, names: Sequence[object], series: str) -> None:
    for number, name in enumerate(names):
        one = rows.filter(rows[series] == name).sort("t")
        t, mean, low, high = (one[column].cast(float).to_numpy() for column in ("t", "mean", "low", "high"))
        colour, shape = look(number, _LOOKS)
        cell.plot(t, mean, color=colour, linewidth=1.2, markevery=(_APART / 2, _APART), **shape)
        cell.fill_between(t, low, high, color=colour, alpha=0.18 if len(names) <= _MANY else 0.09, linewidth=0)
    cell.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)


def _draw_ends(
    cell: Axes, rows: polars.DataFrame, names: Sequence[object], series: str, last: float, width: float
) -> None:
    """A bar for each series in a strip beyond the last patient: quantiles over runs."""
    gap = width / (len(names) + 1)
    for number, name in enumerate(names):
        one = rows.filter(rows[series] == name)
        x, colour = last + (number + 1) * gap, look(number, _LOOKS)[0]
        cell.vlines(x, one["q05"], one["q95"], color=colour, linewidth=0.9)
        cell.vlines(x, one["q25"], one["q75"], color=colour, linewidth=2.6)
        cell.scatter([x] * len(one), one["q50"], s=7, c="white", edgecolors=colour, linewidths=0.8, zorder=3)
    cell.vlines(last, 0.0, 1.0, color=FAINT, linewidth=0.8, zorder=0, transform=cell.get_xaxis_transform())
    cell.set_xlim(right=last + width)
    cell.spines["bottom"].set_bounds(cell.get_xlim()[0], last)
