"""What the terminal shows, and the same as a table of Markdown: each kind of interval and test against its bar."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.report.text_table import paragraph
from adhere.studies.coverage.judgements import SYMBOLS, Judgement, width_text
from adhere.studies.coverage.tables import FIXED_DESIGN
from adhere.studies.coverage.verdicts import HOLDS

LEGEND = (
    "share: of trials in which the interval held the truth (fixed designs), ever missed it (sequences), missed it at"
    " the end (other limits in adaptive designs), or a test raised a false alarm, in the population where it did"
    " worst. ✓ holds: the share keeps the bar; ◐ open: it does not, but chance may explain it; ✗ fails: it does not."
)
_SHARE = 9
_HEADER = ("design", "what", "method", "bar", "cells", "in the worst cell", "median widths", "verdict")


def summary(judgements: Sequence[Judgement], width: int = 100) -> str:
    """A line for each judgement, the design's name above; those that do not hold with where that was."""
    width = min(width, 100)
    lines: list[str] = []
    title = ""
    for one in judgements:
        kind = "tests" if one.what.startswith("test: ") else "intervals"
        if title != (title := f"{one.design} designs, {kind}: {one.bar}"):
            lines += ["", title]
        lines.append(_line(one, width))
        if one.verdict != HOLDS:
            lines += [f"    {line}" for line in paragraph(one.found, width - 4).splitlines()]
    n_holding = sum(one.verdict == HOLDS for one in judgements)
    lines += ["", f"{n_holding} of {len(judgements)} hold.", paragraph(LEGEND, width)]
    return "\n".join(lines[1:])


def _line(one: Judgement, width: int) -> str:
    name = one.what.removeprefix("test: ") + (f" ({one.method})" if one.method else "")
    room = width - 2 - _SHARE
    name = name if len(name) <= room - 1 else one.what
    return f"{SYMBOLS[one.verdict]} {name:<{room}}{f'{one.share:.1%}':>{_SHARE}}"


def markdown(judgements: Sequence[Judgement]) -> str:
    """The same as a table of Markdown, for a document."""
    lines = [f"| {' | '.join(_HEADER)} |", f"|{'---|' * len(_HEADER)}"]
    for one in judgements:
        n_cells = f"{one.n_cells}"
        widths = width_text(one.widths) if one.method or one.design == FIXED_DESIGN else "–"
        cells = (one.design, one.what, one.method or "–", one.bar, n_cells, one.found, widths,
                 f"{SYMBOLS[one.verdict]} {one.verdict}")  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
