"""Breaking long text where a reader would, and never cutting any off."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence


def packed(pieces: Sequence[str], width: int) -> list[str]:
    """Lines of whole pieces, as many on each as fit; only a piece wider than a line is itself broken.

    >>> packed(["none 20%, ", "low 30%, ", "medium 50%"], 20)
    ['none 20%, low 30%,', 'medium 50%']
    """
    lines = [""]
    for piece in pieces:
        if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > width:
            lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return [line.rstrip() for line in lines]


def policy_lines(policy: str, width: int) -> list[str]:
    """A policy's text, broken after brackets and commas.

    >>> policy_lines("hierarchical(epsilon-greedy, top=exp3(gamma=0.085))", 30)
    ['hierarchical(epsilon-greedy,', 'top=exp3(gamma=0.085))']
    """
    return packed(re.findall(r"[^(,\s]+[(,]?\s*|\W\s*", policy), width)


def paragraph(text: str, width: int, indent: str = "") -> str:
    """Running text in lines of a width, each indented."""
    return textwrap.fill(
        " ".join(text.split()),
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
