"""What the pages of all benchmarks have in common: bars, ratios, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.cpu.measuring import Narrator, Spread

_VERDICTS = {True: "✓ met", False: "✗ missed", None: "not measured"}


@dataclass(frozen=True)
class Bar:
    """What was asked, what was found, and whether that is enough; None where it could not be measured."""

    asked: str
    found: str
    met: bool | None


def times(spread: Spread) -> str:
    """A ratio with its range over rounds.

    >>> times(Spread(2.0, 1.5, 2.25))
    '2.00× [1.50–2.25]'
    """
    digits = 2 if spread.median < 10 else 0
    return f"{spread.median:,.{digits}f}× [{spread.lo:,.{digits}f}–{spread.hi:,.{digits}f}]"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table_of_bars(bars: Iterable[Bar]) -> str:
    """Every bar with its verdict."""
    return table(["asked", "measured", ""], [[bar.asked, bar.found, _VERDICTS[bar.met]] for bar in bars])


def tell_bars(bars: Iterable[Bar], narrator: Narrator) -> None:
    """The same on the terminal."""
    for bar in bars:
        narrator.note(f"{ {True: '✓', False: '✗', None: '·'}[bar.met] } {bar.asked}: {bar.found}")
