"""Boxes with text and arrows between them, for diagrams that place everything themselves, in inches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adhere.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOX, LINE_HEIGHT = 0.2, 0.125  # the height of a box of one line, and of each further line
LINE_COLOUR, PLAIN, STRONG, OTHER = "#333333", "#FFFFFF", "#E3EEF6", "#FBEADF"


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure whose axes are inches: to the right, and downwards from zero."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))  # no layout engine: a diagram places everything itself
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(-height, 0))
    axes.set_axis_off()
    return figure, axes


def arrow(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """A line along the points, with a head at the last."""
    axes.plot(*zip(*points, strict=True), color=LINE_COLOUR, linewidth=0.7, solid_joinstyle="miter", zorder=1)
    head = {"arrowstyle": "-|>", "color": LINE_COLOUR, "linewidth": 0.7, "mutation_scale": 6}
    axes.annotate("", points[-1], points[-2], arrowprops={**head, "shrinkA": 0, "shrinkB": 0})


def box_height(text: str) -> float:
    """How high the box of a text is."""
    return BOX + LINE_HEIGHT * text.count("\n")


def box(axes: Axes, left: float, top: float, width: float, text: str, fill: str, dashed: bool = False) -> float:
    """Draw a box with its text; say where it ends."""
    from matplotlib.patches import Rectangle

    bottom = top - box_height(text)
    edge, style = (COLOURS[1], "--") if dashed else (LINE_COLOUR, "-")
    drawn = Rectangle(
        (left, bottom), width, top - bottom, facecolor=fill, edgecolor=edge, linestyle=style, linewidth=0.8, zorder=2
    )
    axes.add_patch(drawn)
    axes.text(left + width / 2, (top + bottom) / 2, text, ha="center", va="center", zorder=3)
    return bottom
