"""Stacked bar charts of shares: a bar for each step, divided by kind, with an interval for the sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from adhere.report.style import (
    COLOURS,
    DARK,
    FAINT,
    LINE,
    PAGE_WIDTH,
    TEXT,
    TITLE,
    PanelFigure,
    broken,
    width_of,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL_HEIGHT = 1.55
_HATCHES = ("", "////", "....", "\\\\\\\\", "xx")
# Neighbouring parts differ in lightness as well as in colour.
_FILLS = (COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[4], COLOURS[3])
_PALE = "#DDDDDD"


class Bar(NamedTuple):
    """Bar with its label on the axis, the share of each kind, and the interval of their sum."""

    label: str
    parts: Mapping[str, float]
    low: float | None
    high: float | None


def stacked_bars(
    panels: Mapping[str, Sequence[Bar]],
    *,
    kinds: Sequence[str],
    x_label: str,
    y_label: str,
    rest: str = "",
    n_columns: int = 3,
    note: str = "",
) -> Figure:
    """Draw a panel of bars for each title, all on one y axis in percent; kinds look the same in every panel.

    The kind `rest` is pale and on top. The legend leaves out kinds that no bar has; a single kind needs no legend. If
    there are many bars, only as many labels are shown as fit.
    """
    from matplotlib.patches import Patch

    kinds = [*kinds, rest] if rest else kinds
    looks = [_fill(number, kind == rest) for number, kind in enumerate(kinds)]
    used = [kind for kind in kinds if any(bar.parts.get(kind, 0.0) > 0.0 for bars in panels.values() for bar in bars)]
    n_columns = 2 if len(panels) == 4 else min(n_columns, len(panels))  # so that no row has a single panel
    panel_width = (PAGE_WIDTH - 0.35) / n_columns - 0.45
    headings = ["\n".join(broken(title, panel_width, TITLE, "bold")) for title in panels]
    n_rows = -(-len(panels) // n_columns)
    height = n_rows * (_PANEL_HEIGHT + 0.15 * max(heading.count("\n") for heading in headings)) + LINE
    key = used if len(kinds) > 1 else []
    chart = PanelFigure(height, key, note, width=PAGE_WIDTH)
    cells = chart.panels(headings, n_columns, sharey="all")
    for cell, bars in zip(cells, panels.values(), strict=True):
        _draw(cell, bars, dict(zip(kinds, looks, strict=True)))
        _label(cell, bars, panel_width)
    chart.above.supxlabel("\n".join(broken(x_label, PAGE_WIDTH - 1.0, TITLE)), fontsize=TITLE)
    chart.above.supylabel("\n".join(broken(y_label, height - 0.4, TITLE)), fontsize=TITLE)
    return chart.finish([Patch(**looks[kinds.index(kind)]) for kind in key])


def _fill(number: int, is_rest: bool) -> dict[str, Any]:
    if is_rest:
        return {"facecolor": _PALE, "edgecolor": "white", "linewidth": 0.4}
    n = number % len(_FILLS)
    return {"facecolor": _FILLS[n], "edgecolor": "white", "hatch": _HATCHES[n], "linewidth": 0.4}


def _draw(cell: Axes, bars: Sequence[Bar], looks: Mapping[str, Mapping[str, Any]]) -> None:
    places = range(len(bars))
    bottom = [0.0] * len(bars)
    for kind, look in looks.items():
        heights = [bar.parts.get(kind, 0.0) for bar in bars]
        if any(heights):
            cell.bar(places, heights, 0.78, bottom, **look)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    ends = [
        (place, bar.low, bar.high) for place, bar in enumerate(bars) if bar.low is not None and bar.high is not None
    ]
    cell.vlines([one[0] for one in ends], [one[1] for one in ends], [one[2] for one in ends], DARK, linewidth=0.9)
    cell.yaxis.set_major_formatter(lambda value, _: f"{written(round(100 * value, 6))}%")
    cell.grid(axis="y", color=FAINT, linewidth=0.6)
    cell.set_axisbelow(True)
    cell.tick_params(labelleft=True)
    cell.set_xlim(-0.7, len(bars) - 0.3)


def _label(cell: Axes, bars: Sequence[Bar], inches: float) -> None:
    """Show every label, or every second, third, … from the last one backwards, so that none overlap."""
    widest = max(width_of(bar.label, TEXT) for bar in bars) + 0.08
    room = inches / max(len(bars), 1)
    step = max(1, -(-int(100 * widest) // max(1, int(100 * room))))
    shown = [place for place in range(len(bars)) if (len(bars) - 1 - place) % step == 0]
    cell.set_xticks(shown, [bars[place].label for place in shown], fontsize=TEXT)
