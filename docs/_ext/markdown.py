"""Pieces of Markdown that the generated pages share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, with every cell on one line."""
    lines = [_row(headings), "|" + "---|" * len(headings), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(re.sub(r"(?<!\\)\|", r"\|", cell).split()) for cell in cells) + " |"


def code(text: object) -> str:
    """Return a text as code, or nothing for an empty text."""
    return f"`{text}`" if str(text) else ""


def plain(text: str) -> str:
    """Return words of the program as Markdown: marks that Markdown would read are escaped, except in code."""
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>{}\[\]$])", r"\\\1", part) for part in parts)


def paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring on one line."""
    return plain(" ".join((docstring or "").split("\n\n")[0].split()))
