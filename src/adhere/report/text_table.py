"""Tables for a terminal, no wider than it: columns side by side, long cells broken into lines."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

_NARROWEST = 8  # letters of a column, below which it is not broken any further
_BETWEEN = "  "


def text_table(rows: Sequence[Sequence[str]], width: int, align: str = "", indent: str = "  ") -> str:
    """The rows, with columns set to the left (l) or to the right (r) as `align` says; the first row is the heading.

    Where they do not fit the width, cells of the widest column are broken at spaces, again and again until they do.

    >>> print(text_table([["arm", "patients"], ["a long name", "1,200"]], 20, "lr"))
      arm        patients
      a long        1,200
      name
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    align = align or "l" + "r" * (len(widths) - 1)
    room = width - len(indent) - len(_BETWEEN) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] = max(_NARROWEST, widths[widest] - (sum(widths) - room), _second(widths))
    lines = []
    for row in rows:
        cells = [_broken(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            padded = [
                part.rjust(wide) if side == "r" else part.ljust(wide)
                for part, wide, side in zip(parts, widths, align, strict=True)
            ]
            lines.append((indent + _BETWEEN.join(padded)).rstrip())
    return "\n".join(lines)


def _second(widths: Sequence[int]) -> int:
    """To which width the widest is cut first: to that of the next one, or by one where they are equal."""
    first, *others = sorted(widths, reverse=True)
    return others[0] if others and others[0] < first else first - 1


def _broken(cell: str, width: int) -> list[str]:
    start = len(cell) - len(cell.lstrip())
    indent = " " * min(start, width // 2)
    return textwrap.wrap(
        cell.strip(), width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]
