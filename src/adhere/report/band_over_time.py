"""Figure of confidence sequences: how the set of values not refuted narrows over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from adhere.report.style import COLOURS, DARK, FAINT, GREY, TITLE, PanelFigure, broken, set_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.6  # inches, the width of a page
_PANEL_HEIGHT = 1.75  # inches
_SHOWN = 6.0  # a panel shows at most this multiple of the final width; the wide beginning is cut off


class Band(NamedTuple):
    """Sequence to draw: its limits at each time, the estimate, and another interval at the end for comparison."""

    title: str
    times: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    estimate: float | None
    beside: tuple[float, float] | None
    drift_at: int | None = None


def band_over_time(bands: Sequence[Band], *, y_label: str, band: str, beside: str, note: str = "") -> Figure:
    """Draw a panel for each band, two side by side; `band` and `beside` are legend labels of the two intervals."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    n_columns = min(2, len(bands))
    panel_width = (WIDTH - 0.5) / n_columns - 0.5
    titles = ["\n".join(broken(one.title, panel_width, TITLE, "bold")) for one in bands]
    n_rows = -(-len(bands) // n_columns)
    height = n_rows * (_PANEL_HEIGHT + 0.15 * max(title.count("\n") for title in titles)) + 0.15
    key = {
        band: Patch(facecolor=COLOURS[0], alpha=0.3),
        "estimate": Line2D([], [], color=COLOURS[0], marker="o", markersize=4.5, linestyle="none"),
    }
    if any(one.beside for one in bands):
        key[beside] = Line2D([], [], color=COLOURS[1], linewidth=1.6)
    if any(one.drift_at is not None for one in bands):
        key["no constant effect fits from here on"] = Line2D([], [], color=DARK, linewidth=0.9, linestyle=":")
    chart = PanelFigure(height, [*key, "no difference (zero)"], note, width=WIDTH)
    cells = chart.panels(titles, n_columns)
    for number, (cell, one) in enumerate(zip(cells, bands, strict=True)):
        _draw(cell, one, panel_width)
        if number + n_columns >= len(bands):
            cell.set_xlabel("patients, in the order of decision", fontsize=TITLE)
    chart.above.supylabel("\n".join(broken(y_label, height - 0.5, TITLE)), fontsize=TITLE)
    return chart.finish([*key.values(), Line2D([], [], color=GREY, linewidth=0.8)])


def _draw(cell: Axes, one: Band, inches: float) -> None:
    last = max(one.times, default=1.0)
    cell.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
    cell.fill_between(one.times, one.low, one.high, color=COLOURS[0], alpha=0.3, linewidth=0, step="post")
    for ends in (one.low, one.high):
        cell.step(one.times, ends, where="post", color=COLOURS[0], linewidth=0.9)
    if one.drift_at is not None:
        cell.axvline(one.drift_at, color=DARK, linewidth=0.9, linestyle=":")
    set_ticks(cell, 0.0, 1.06 * last, inches)
    if one.beside is not None:
        cell.plot([1.03 * last] * 2, one.beside, color=COLOURS[1], linewidth=1.6, solid_capstyle="butt", zorder=4)
    if one.estimate is not None:
        cell.plot([last], [one.estimate], color=COLOURS[0], marker="o", markersize=4.5, zorder=5)
    cell.set_ylim(_limits(one))
    cell.grid(axis="y", color=FAINT, linewidth=0.6)
    cell.set_axisbelow(True)


def is_cut(one: Band) -> bool:
    """Return whether a panel cuts off the wide beginning of the band."""
    low, high = _limits(one)
    return len(one.low) > 0 and bool(min(one.low) < low or max(one.high) > high)


def _limits(one: Band) -> tuple[float, float]:
    """Return the limits of the panel's y axis: they include zero, the last set and the interval for comparison."""
    ends = [0.0, *(end for end in one.beside or () if math.isfinite(end))]
    if len(one.low):
        low, high = one.low[-1], one.high[-1]
        middle, half = (low + high) / 2, _SHOWN * max(high - low, 0.01) / 2
        ends += [max(min(one.low), middle - half), min(max(one.high), middle + half)]
    if one.estimate is not None:
        ends.append(one.estimate)
    margin = 0.05 * (max(ends) - min(ends)) or 0.05
    return min(ends) - margin, max(ends) + margin
