"""Sections of a report and their parts: paragraphs, claims, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adhere.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGREES, DIFFERS, IN_PART = "agrees", "differs", "in part"
OURS = "ours"  # a finding of this run that the paper does not state
ON_THE_PAPER = (AGREES, IN_PART, DIFFERS)
VERDICTS = (*ON_THE_PAPER, OURS)
SYMBOLS = {AGREES: "✓", IN_PART: "◐", DIFFERS: "✗", OURS: "◇"}


def verdict_on(cases: Collection[bool]) -> str:
    """Return "agrees" if a claim is true in all cases, "in part" if in some, otherwise "differs".

    >>> verdict_on([True, False])
    'in part'
    """
    return AGREES if all(cases) else IN_PART if any(cases) else DIFFERS


@dataclass(frozen=True)
class Claim:
    """Claim of the paper (or of ours), with the finding of this run, and whether the two agree."""

    statement: str
    paper: str
    ours: str
    verdict: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError("verdict", self.verdict, f"one of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class ReportFigure:
    """Figure of a report: the stem of its files, its caption, its text alternative, and how to draw it.

    A wide figure has the whole width of the page; on a narrow screen it scrolls in its own box.
    """

    name: str
    caption: str
    alternative: str
    draw: Callable[[], Figure]
    wide: bool = False

    def _repr_png_(self) -> bytes:
        from adhere.report.style import figure_files

        return figure_files(self.draw, (".png",))[".png"]


@dataclass(frozen=True)
class Listing:
    """Table of texts; columns of numbers are right-aligned."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False  # a long table that the reader opens on demand


@dataclass(frozen=True)
class Section:
    """Section on one study: question, result and uncertainty; then claims, figures, details and tables.

    The result is one short sentence; intervals are in the tables and figures. The first figure is beside the text.
    The `headline`, if there is one, is at the top of the report.
    """

    name: str
    title: str
    question: str
    result: str
    uncertainty: str
    claims: Sequence[Claim] = field(default=())
    figures: Sequence[ReportFigure] = field(default=())
    listings: Sequence[Listing] = field(default=())
    credits: str = ""  # source of the data
    details: Sequence[str] = field(default=())  # methods and further findings
    headline: ReportFigure | None = None

    def all_figures(self) -> list[ReportFigure]:
        """Return every figure, the headline first."""
        return [*([self.headline] if self.headline else []), *self.figures]

    def counted_verdicts(self) -> dict[str, int]:
        """Count the claims by verdict."""
        return {one: sum(claim.verdict == one for claim in self.claims) for one in VERDICTS}
