"""Formulas in docstrings: indented blocks are shown as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_WITH_ITEMS = ("Parameters", "Attributes", "Returns", "Raises", "See Also", "Examples", "References")


def keep_formulas(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring so that its indented blocks keep their marks and their columns."""
    lines[:] = _kept(lines)


def _kept(lines: list[str]) -> Iterator[str]:
    in_prose, is_formula, before = True, False, ""
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if following and not following.strip("-") and line and not line.startswith(" "):
            in_prose = line not in _WITH_ITEMS
        if in_prose and line.startswith("    ") and not before and not is_formula:
            is_formula = True
            yield from (".. code-block:: text", "")
        elif line and not line.startswith("    "):
            is_formula = False
        yield line
        before = line
