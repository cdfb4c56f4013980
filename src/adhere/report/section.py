"""The section of a study, in the pieces a report is made of: paragraphs, claims, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adhere.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGREES, DIFFERS, IN_PART = "agrees", "differs", "in part"
OURS = "ours"  # something this run found that the paper does not state
ON_THE_PAPER = (AGREES, IN_PART, DIFFERS)
VERDICTS = (*ON_THE_PAPER, OURS)
SYMBOLS = {AGREES: "✓", IN_PART: "◐", DIFFERS: "✗", OURS: "◇"}


def verdict_on(cases: Collection[bool]) -> str:
    """Agreement if a claim holds in all cases, agreement in part if in some.

    >>> verdict_on([True, False])
    'in part'
    """
    return AGREES if all(cases) else IN_PART if any(cases) else DIFFERS


@dataclass(frozen=True)
class Claim:
    """Something the paper says, or that we add, what this run found, and whether the two agree."""

    statement: str
    paper: str
    ours: str
    verdict: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError("verdict", self.verdict, f"one of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class ReportFigure:
    """A figure: the stem of its files, its caption, what it shows in words, and how to draw it.

    A wide one has the whole width of the page, and scrolls in a box of its own where a screen is narrow.
    """

    name: str
    caption: str
    alternative: str
    draw: Callable[[], Figure]
    wide: bool = False

    def _repr_png_(self) -> bytes:
        from adhere.report.style import figure_files

        return figure_files(self, (".png",))[".png"]


@dataclass(frozen=True)
class Listing:
    """A table of texts; columns of numbers are set to the right."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False  # a long one that a reader opens on demand


@dataclass(frozen=True)
class Section:
    """One study: question, result and uncertainty; then its claims, figures, details and tables.

    The result is one short sentence; intervals are in the tables and figures. The first figure stands beside the
    text, and `headline`, if there is one, at the top of the report.
    """

    name: str
    title: str
    question: str
    result: str
    uncertainty: str
    claims: Sequence[Claim] = field(default=())
    figures: Sequence[ReportFigure] = field(default=())
    listings: Sequence[Listing] = field(default=())
    credits: str = ""  # whose data this is
    details: Sequence[str] = field(default=())  # how it was done, and what else was found
    headline: ReportFigure | None = None

    def all_figures(self) -> list[ReportFigure]:
        """Every figure, the headline first."""
        return [*([self.headline] if self.headline else []), *self.figures]

    def counted_verdicts(self) -> dict[str, int]:
        """How many of its claims have each verdict."""
        return {one: sum(claim.verdict == one for claim in self.claims) for one in VERDICTS}
