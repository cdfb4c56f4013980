"""Where patients went: boxes and arrows in the manner of CONSORT, drawn from a table of how many are in each box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.consort_flow import BOX, OTHER, PLAIN, STRONG, arrow, box, box_height, canvas
from adhere.report.style import SETTINGS

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches, but for the sizes of text.
_WIDTH, _MARGIN = 4.8, 0.06
_ROW = 0.27  # from box to box
_INDENT, _SPINE = 0.22, 0.09
_TOP_BOX, _SIDE_BOX, _DROP, _FORK, _COLUMN_GAP, _NOTE = 1.62, 1.3, 0.46, 0.3, 0.14, 0.2
_TEXT, _NOTE_TEXT = 7.5, 7
_TOP_STEPS = ("randomised", "left out", "analysed")
_DEPTHS = {"allocated": 1, "taken": 2}
_NOTE_WORDS = "Each patient is in both trials. Dashed: took another arm than the one allocated."


def flow_diagram(flow: polars.DataFrame) -> Figure:
    """All patients, those left out at the side, those kept, and under them a column for each trial.

    The table has a row for each box, in the order in which they are drawn, and the columns step ("randomised",
    "left out", "analysed", "allocated", "taken"), trial, allocated, taken and patients.
    """
    import matplotlib

    first, left_out, kept = (flow.filter(step=step)["patients"].item() for step in _TOP_STEPS)
    trials = flow["trial"].drop_nulls().unique(maintain_order=True)
    columns = {f"{trial} trial: {kept:,}": flow.filter(trial=trial) for trial in trials}
    n_rows = 1 + max(len(boxes) for boxes in columns.values())
    height = 2 * _MARGIN + 2 * BOX + _DROP + _FORK + n_rows * _ROW + _NOTE
    with matplotlib.rc_context({**SETTINGS, "font.size": _TEXT}):
        figure, axes = canvas(_WIDTH, height)
        start = _draw_top(
            axes, f"randomised: {first:,}", f"left out: {left_out:,}\n(compliance unknown)", f"analysed: {kept:,}"
        )
        width = (_WIDTH - 2 * _MARGIN - _COLUMN_GAP * (len(columns) - 1)) / len(columns)
        for number, (heading, boxes) in enumerate(columns.items()):
            left = _MARGIN + number * (width + _COLUMN_GAP)
            fork, centre = start - _FORK / 2, left + width / 2
            arrow(axes, [(_WIDTH / 2, start), (_WIDTH / 2, fork), (centre, fork), (centre, start - _FORK)])
            _draw_column(axes, left, start - _FORK, width, heading, boxes)
        axes.text(_MARGIN, _MARGIN - height, _NOTE_WORDS, fontsize=_NOTE_TEXT, color="#444444", va="bottom")
    return figure


def _draw_top(axes: Axes, first: str, left_out: str, kept: str) -> float:
    """Draw what all columns share; say where it ends."""
    middle, left = _WIDTH / 2, _WIDTH / 2 - _TOP_BOX / 2
    first_end = box(axes, left, -_MARGIN, _TOP_BOX, first, STRONG)
    side, aside = _WIDTH - _MARGIN - _SIDE_BOX, first_end - _DROP / 2
    arrow(axes, [(middle, first_end), (middle, first_end - _DROP)])
    arrow(axes, [(middle, aside), (side, aside)])
    box(axes, side, aside + box_height(left_out) / 2, _SIDE_BOX, left_out, OTHER)
    return box(axes, left, first_end - _DROP, _TOP_BOX, kept, STRONG)


def _draw_column(axes: Axes, left: float, top: float, width: float, heading: str, boxes: polars.DataFrame) -> None:
    """A heading, and under it the boxes, each led to from the last less deep one; shares are of those allocated."""
    end_of, total = {0: box(axes, left, top, width, heading, STRONG)}, 0
    for row in boxes.iter_rows(named=True):
        depth, n = _DEPTHS[row["step"]], row["patients"]
        if depth == 1:
            total, text = n, f"allocated {row['allocated']}: {n:,}"
        else:
            text = f"took {row['taken']}: {n:,} ({n / total:.1%})"
        top -= _ROW
        at = left + depth * _INDENT
        spine, side = at - _INDENT + _SPINE, top - BOX / 2
        arrow(axes, [(spine, end_of[depth - 1]), (spine, side), (at, side)])
        complied = row["taken"] in (None, row["allocated"])
        fill = PLAIN if complied else OTHER
        end_of[depth] = box(axes, at, top, width - depth * _INDENT, text, fill, dashed=not complied)
