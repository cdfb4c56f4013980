"""What every figure must keep to."""

from __future__ import annotations

from itertools import combinations
from typing import Any


def check_apart_and_inside(figure: Any) -> None:
    """Panels, legend and note neither cover each other nor stick out of the figure."""
    figure.canvas.draw()
    above, below = figure.subfigs
    boxes = [part.get_tightbbox() for part in (*above.axes, below.legends[0], *below.texts)]
    for box in boxes:
        assert figure.bbox.x0 - 1 <= box.x0 < box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 - 1 <= box.y0 < box.y1 <= figure.bbox.y1 + 1
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
