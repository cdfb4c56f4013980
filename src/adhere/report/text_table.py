"""Tables for a terminal, no wider than it: columns side by side, long cells broken into lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

_NARROWEST, _WIDEST_PIECE = 4, 26  # letters of a column that had to be broken: at least, and where words are longer
_BETWEEN = "  "
_PIECE = re.compile(r"\[[^]]*]|\S+")  # an interval, or a word
_GLUE = "\N{NO-BREAK SPACE}"


def text_table(rows: Sequence[Sequence[str]], width: int, align: str = "", indent: str = "  ") -> str:
    """The rows, with columns set to the left (l) or to the right (r) as `align` says, whose last letter goes for all
    further ones. The first row is the heading.

    Where they do not fit the width, cells of the widest columns are broken at spaces, but not within an interval;
    within words only where nothing else helps.

    >>> print(text_table([["arm", "mean"], ["a long name", "0.5 [0.4, 0.6]"]], 22, "lr"))
      arm             mean
      a long           0.5
      name      [0.4, 0.6]
    """
    return text_tables([rows], width, align, indent)[0]


def text_tables(
    tables: Sequence[Sequence[Sequence[str]]], width: int, align: str = "", indent: str = "  "
) -> list[str]:
    """Several tables like `text_table`, with columns of the same widths in all of them."""
    columns = _columns(tables)
    align = align.ljust(len(columns), align[-1]) if align else "l".ljust(len(columns), "r")
    widths = _fitted(columns, _room(len(columns), width, indent))
    return [_set(rows, widths, align, indent) for rows in tables]


def fits(tables: Sequence[Sequence[Sequence[str]]], width: int, indent: str = "  ") -> bool:
    """Whether tables with columns of the same widths fit a width if only headings may be broken.

    >>> fits([[["mean", "a long heading"], ["0.5 [0.4, 0.6]", "1"]]], 25)
    True
    """
    columns = _columns(tables)
    least = [max([_longest_word(column[:1]), *map(len, column[1:])]) for column in columns]
    return sum(least) <= _room(len(columns), width, indent)


def _columns(tables: Sequence[Sequence[Sequence[str]]]) -> list[tuple[str, ...]]:
    """The columns of all tables, each with its heading once."""
    return list(zip(tables[0][0], *(row for rows in tables for row in rows[1:]), strict=True))


def _room(n_columns: int, width: int, indent: str) -> int:
    return width - len(indent) - len(_BETWEEN) * (n_columns - 1)


def _set(rows: Sequence[Sequence[str]], widths: Sequence[int], align: str, indent: str) -> str:
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


def _longest_word(cells: Sequence[str]) -> int:
    return max((len(one) for cell in cells for one in _PIECE.findall(cell)), default=0)


def _fitted(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """How wide each column is; the widest are cut, headings first, then cells down to their longest words."""
    widths = [max(map(len, column)) for column in columns]
    words = [_longest_word(column) for column in columns]
    bodies = [max([word, *map(len, column[1:])]) for word, column in zip(words, columns, strict=True)]
    for least in (bodies, [min(one, _WIDEST_PIECE) for one in words], [_NARROWEST] * len(columns)):
        while sum(widths) > room and any(wide > low for wide, low in zip(widths, least, strict=True)):
            above = [wide if wide > low else 0 for wide, low in zip(widths, least, strict=True)]
            widths[above.index(max(above))] -= 1
    return widths


def _broken(cell: str, width: int) -> list[str]:
    start = len(cell) - len(cell.lstrip())
    indent = " " * min(start, width // 2)
    glued = _PIECE.sub(lambda found: found[0].replace(" ", _GLUE), cell.strip())
    lines = textwrap.wrap(glued, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(_GLUE, " ") for line in lines] or [""]
