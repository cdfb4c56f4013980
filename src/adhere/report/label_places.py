"""Where the labels of points go, so that none covers another or a point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_DISTANCES = (7.0, 13.0, 21.0, 31.0, 43.0, 57.0, 73.0, 91.0)  # points from a mark to the nearest edge of its label
_N_ANGLES = 16
_FAR = 3.0  # how much worse a covered line is than a place that is one point farther away


class Box(NamedTuple):
    """A rectangle, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share an area."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.top <= other.bottom or other.top <= self.bottom)

    def inside(self, other: Box) -> bool:
        """Whether the other one holds it whole."""
        wide = other.left <= self.left and self.right <= other.right
        return wide and other.bottom <= self.bottom and self.top <= other.top


def label_places(
    marks: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    area: Box,
    taken: Sequence[Box],
    lines: Sequence[Box] = (),
) -> list[Box | None]:
    """For each mark a place for a label of its size: near it, inside the area, on nothing `taken` and on no other.

    Places that cover one of the `lines`, such as intervals, are taken only where others are much farther away. A
    label that finds no place has none.

    >>> area = Box(0, 0, 100, 100)
    >>> one, other = label_places([(50, 50), (50, 52)], [(30, 8), (30, 8)], area, taken=[])
    >>> one.overlaps(other)
    False
    """
    placed: dict[int, Box] = {}
    # Where marks stand close, few places are left: those labels first.
    near = [sum(math.dist(one, other) for other in marks) for one in marks]
    for number in sorted(range(len(marks)), key=near.__getitem__):
        found: tuple[float, Box] | None = None
        for away, box in _candidates(marks[number], sizes[number]):
            if not box.inside(area) or any(box.overlaps(other) for other in (*taken, *placed.values())):
                continue
            cost = away + _FAR * sum(box.overlaps(line) for line in lines)
            if found is None or cost < found[0]:
                found = cost, box
        if found is not None:
            placed[number] = found[1]
    return [placed.get(number) for number in range(len(marks))]


def _candidates(mark: tuple[float, float], size: tuple[float, float]) -> Iterator[tuple[float, Box]]:
    """Places around a mark, with how far away they are."""
    (x, y), (width, height) = mark, size
    for away in _DISTANCES:
        for number in range(_N_ANGLES):
            angle = 2 * math.pi * number / _N_ANGLES
            cos, sin = math.cos(angle), math.sin(angle)
            # The label's nearest edge or corner lies in this direction, so many points away.
            centre_x = x + away * cos + (width / 2) * _side(cos)
            centre_y = y + away * sin + (height / 2) * _side(sin)
            left, bottom = centre_x - width / 2, centre_y - height / 2
            yield away, Box(left, bottom, left + width, bottom + height)


def _side(part: float) -> float:
    """To the left, to the right, or in the middle where the direction is nearly straight up or down."""
    return 0.0 if abs(part) < 0.2 else math.copysign(1.0, part)
