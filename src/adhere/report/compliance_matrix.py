"""Figure of the compliance matrix: a row for each arm assigned, with darker cells for larger shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adhere.report.style import COLOURS, DARK, LINE, TEXT, TITLE, broken, canvas, width_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches.
_CELL_WIDTH, _CELL_HEIGHT = 0.78, 0.36
_WIDEST_LABEL, _EDGE, _GAP = 1.5, 0.08, 0.1
_LEAST_WIDTH, _PAGE_WIDTH = 4.8, 7.6  # minimum width of a half-page figure, and the width of a full page
MAX_HALF = 4  # maximum number of columns of a half-page figure
_DARK_FROM = 0.6  # from this share on, text is white


class MatrixRow(NamedTuple):
    """Arm assigned, with the number of patients by treatment taken, and a text with the share who took the arm."""

    label: str
    taken: Mapping[str, int]
    took_it: str


def compliance_matrix(rows: Sequence[MatrixRow], *, interval: str) -> Figure:
    """Draw a cell for each arm assigned and treatment taken, with share and number; the diagonal is framed.

    Every row has the same columns. `interval` is the heading of the texts beside the rows.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    columns = list(rows[0].taken)
    labels = [broken(row.label, _WIDEST_LABEL) for row in rows]
    heads = [broken(one, _CELL_WIDTH - 0.06) for one in columns]
    aside = max(width_of(one, TEXT) for one in (interval, *(row.took_it for row in rows))) + _GAP
    left = (
        max(width_of("assigned", TITLE, "bold"), *(width_of(line, TEXT) for lines in labels for line in lines)) + _GAP
    )
    heights = [max(_CELL_HEIGHT, 0.14 + LINE * len(lines)) for lines in labels]
    top = LINE * max(map(len, heads)) + 0.26
    least = _LEAST_WIDTH if len(columns) <= MAX_HALF else _PAGE_WIDTH
    across, depth = _CELL_WIDTH * len(columns), sum(heights)
    width, height = max(left + across + aside + 2 * _EDGE, least), top + depth + 2 * _EDGE
    figure, cell = canvas(width, height, height, 0)
    shades = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", COLOURS[0]])
    start, y = _EDGE + left, _EDGE + top
    cell.text(start + across / 2, _EDGE, "taken", fontsize=TITLE, fontweight="bold", ha="center", va="top")
    cell.text(_EDGE, y - 0.06, "assigned", fontsize=TITLE, fontweight="bold", va="bottom")
    cell.text(start + across + _GAP, y - 0.06, interval, fontsize=TEXT, va="bottom")
    for number, lines in enumerate(heads):
        x = start + (number + 0.5) * _CELL_WIDTH
        cell.text(x, y - 0.06, "\n".join(lines), fontsize=TEXT, ha="center", va="bottom")
    frames = []
    for row, lines, high in zip(rows, labels, heights, strict=True):
        total, middle = sum(row.taken.values()), y + high / 2
        cell.text(start - 0.06, middle, "\n".join(lines), fontsize=TEXT, ha="right", va="center")
        for number, (column, n) in enumerate(row.taken.items()):
            share, x = n / total if total else 0.0, start + number * _CELL_WIDTH
            cell.add_patch(
                Rectangle(
                    (x, y), _CELL_WIDTH, high, facecolor=shades(0.85 * share), edgecolor="#D5D9DE", linewidth=0.6
                )
            )
            said = f"{share_text(share)}\n{n:,}" if n else "–"
            ink = "white" if share > _DARK_FROM else DARK
            cell.text(x + _CELL_WIDTH / 2, middle, said, fontsize=TEXT, color=ink, ha="center", va="center")
            if column == row.label:
                frames.append(Rectangle((x, y), _CELL_WIDTH, high, fill=False, edgecolor="black", linewidth=1.4))
        cell.text(start + across + _GAP, middle, row.took_it, fontsize=TEXT, va="center")
        y += high
    for frame in frames:
        cell.add_patch(frame)
    return figure


def share_text(share: float) -> str:
    """Format a share in percent with one decimal; only exact values are shown as 0% or 100%.

    >>> [share_text(one) for one in (0, 0.0001, 0.4211, 0.9999, 1)]
    ['0%', '<0.1%', '42.1%', '>99.9%', '100%']
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return "<0.1%" if share < 0.0005 else ">99.9%" if share > 0.9995 else f"{share:.1%}"
