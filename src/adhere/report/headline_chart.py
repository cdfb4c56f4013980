"""Small figures for the top of a report, three side by side, with few marks and large text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adhere.intervals import Estimate
from adhere.report.style import COLOURS, DARK, FAINT, GREY, TEXT, TITLE, set_ticks, written

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 3.4, 2.6  # inches, a third of a page wide
_MARGIN = 0.06  # margin at either end of the axis, relative to the range of values
_MARK = 4.5  # points
_GOOD, _BAD = COLOURS[0], COLOURS[1]


class HeadlineRow(NamedTuple):
    """Row of the chart; `band` is a reference interval, `warn` highlights a policy without a guarantee."""

    label: str
    estimate: Estimate
    band: tuple[float, float] | None = None
    warn: bool = False


def headline_dots(title: str, rows: Sequence[HeadlineRow], x_label: str, band_label: str = "") -> Figure:
    """Draw a dot with its interval for each row, under its label; bands are grey, and a line marks zero."""
    figure, cell = _empty(title)
    values = [0.0]
    for y, row in enumerate(rows):
        mean, low, high = row.estimate.mean, row.estimate.low, row.estimate.high
        colour = _BAD if row.warn else _GOOD
        if row.band is not None:
            cell.fill_betweenx([y - 0.12, y + 0.22], *row.band, color=GREY, alpha=0.3, linewidth=0)
            values += row.band
        if low is not None and high is not None:
            cell.plot([low, high], [y + 0.05, y + 0.05], color=colour, linewidth=1.4, solid_capstyle="butt")
            values += (low, high)
        cell.plot([mean], [y + 0.05], marker="s" if row.warn else "o", color=colour, markersize=_MARK)
        values.append(mean)
        cell.annotate(
            row.label,
            (0.0, y - 0.34),
            xycoords=cell.get_yaxis_transform(),
            fontsize=TITLE,
            va="center",
            color=colour if row.warn else DARK,
        )
    margin = _MARGIN * (max(values) - min(values))
    set_ticks(cell, min(values) - margin, max(values) + margin, _WIDTH - 0.3)
    cell.set_ylim(len(rows) - 0.55, -0.65)
    cell.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    cell.set_yticks([])
    cell.spines["left"].set_visible(False)
    cell.set_xlabel(x_label, fontsize=TITLE)
    more = f"; grey: {band_label}" if band_label else ", where wider than the marks"
    figure.supxlabel(f"lines: 95% intervals{more}", fontsize=TEXT, color=DARK)
    return figure


def headline_growth(
    title: str, table: polars.DataFrame, warn: Mapping[str, bool], labels: Mapping[str, str]
) -> Figure:
    """Draw regret against the number of patients on logarithmic axes, with a curve for each `name`."""
    figure, cell = _empty(title)
    cell.set_xscale("log")
    cell.set_yscale("log")
    for number, (name, label) in enumerate(labels.items()):
        one = table.filter(name=name).sort("n_patients")
        t, mean, low, high = (one[column].cast(float).to_numpy() for column in ("n_patients", "mean", "low", "high"))
        colour = _BAD if warn[name] else (COLOURS[0], COLOURS[2])[number % 2]
        cell.plot(t, mean, color=colour, linewidth=1.4, linestyle=("-", (0, (5, 1.5)))[number % 2], label=label)
        seen = low > 0  # a logarithmic axis cannot show values of 0 or less
        cell.fill_between(t[seen], low[seen], high[seen], color=colour, alpha=0.25, linewidth=0)
    cell.minorticks_off()
    cell.set_xticks([100, 10_000, 1_000_000])
    cell.xaxis.set_major_formatter(lambda value, _: written(value))
    cell.yaxis.set_major_formatter(lambda value, _: written(value))
    cell.margins(x=0.03)
    cell.legend(
        loc="upper left", frameon=False, fontsize=TITLE, labelcolor="linecolor", borderaxespad=0, handlelength=1.4
    )
    cell.set_xlabel("patients in the trial", fontsize=TITLE)
    cell.set_ylabel("regret (rewards lost)", fontsize=TITLE)
    return figure


def _empty(title: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    cell = figure.subplots()
    cell.set_title(title, loc="left", fontsize=TITLE + 1, fontweight="bold")
    cell.tick_params(labelsize=TEXT)
    cell.grid(axis="x", color=FAINT, linewidth=0.6)
    cell.set_axisbelow(True)
    return figure, cell
