"""What the paper claims beside what we found, as a table of plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from adhere.report.section import ON_THE_PAPER, OURS, SYMBOLS, Claim, Section
from adhere.report.wrapping import packed, paragraph

_HEADER = ("verdict", "claim", "the paper", "this run")
_GAP = "  "
_NARROWEST_COLUMNS = 72  # letters, below which texts stand under each other
_WORD = re.compile(r"\[[^\s\]]+, [^\s\]]+\]\S* ?|\S+ ?")  # an interval counts as one
_BREAK = re.compile(r"(?<=\w[(\[,/])(?=[^\W\d])")
_LONG = 20  # letters, from which on a word is broken after brackets, commas and strokes


def claims_table(sections: Sequence[Section], width: int = 80) -> str:
    """Every claim with its verdict, the paper's figure and ours, study by study; then how many have which verdict.

    In columns where the width allows; else the texts of a claim stand under each other.
    """
    claiming = [section for section in sections if section.claims]
    claims = [claim for section in claiming for claim in section.claims]
    if not claims:
        return "The paper makes no claims about this."
    in_columns = width >= _NARROWEST_COLUMNS
    widths = _widths(claims, width)
    blocks = [_row(_HEADER, widths)] if in_columns else []
    for section in claiming:
        rows = [_row(_cells(claim), widths) if in_columns else _stacked(claim, width) for claim in section.claims]
        blocks.append("\n".join([paragraph(section.title, width), *rows]))
    return "\n\n".join([*blocks, paragraph(_counted(claims), width)])


def _cells(claim: Claim) -> tuple[str, str, str, str]:
    return f"{SYMBOLS[claim.verdict]} {claim.verdict}", claim.statement, claim.paper, claim.ours


def _widths(claims: Sequence[Claim], width: int) -> list[int]:
    """As wide as each column needs to be, and no wider than its share of what the first one leaves."""
    needed = [max(map(len, column)) for column in zip(_HEADER, *map(_cells, claims), strict=True)]
    verdict, statement, paper, ours = needed
    room = width - verdict - 3 * len(_GAP)
    statement, paper = min(statement, room * 38 // 100), min(paper, room * 22 // 100)
    return [verdict, statement, paper, min(ours, room - statement - paper)]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    columns = [_lines(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = zip_longest(*columns, fillvalue="")
    return "\n".join(
        _GAP.join(part.ljust(width) for part, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _stacked(claim: Claim, width: int) -> str:
    verdict, statement, paper, ours = _cells(claim)
    indent = _GAP * 2
    texts = (f"{verdict}: {statement}", f"the paper: {paper}", f"this run: {ours}")
    lines = [_lines(text, max(20, width - len(indent))) for text in texts]
    return "\n".join([*lines[0], *(indent + line for under in lines[1:] for line in under)])


def _lines(text: str, width: int) -> list[str]:
    """Lines that break between words and inside long ones, such as policies, but not inside an interval.

    >>> _lines("thompson-bounded(hierarchical) 7.2 [6.4, 8.0]", 20)
    ['thompson-bounded(', 'hierarchical) 7.2', '[6.4, 8.0]']
    """
    words = _WORD.findall(" ".join(text.split()))
    return packed([part for word in words for part in (_BREAK.split(word) if len(word) > _LONG else [word])], width)


def _counted(claims: Sequence[Claim]) -> str:
    verdicts = [claim.verdict for claim in claims]
    n_ours = verdicts.count(OURS)
    n_papers = len(verdicts) - n_ours
    counts = ", ".join(f"{verdicts.count(one)} {SYMBOLS[one]} {one}" for one in ON_THE_PAPER if one in verdicts)
    of_the_paper = f"{n_papers} {'claim' if n_papers == 1 else 'claims'} of the paper: {counts}"
    of_our_own = f"{n_ours} {'finding' if n_ours == 1 else 'findings'} of our own"
    return "; ".join([of_the_paper] * (n_papers > 0) + [of_our_own] * (n_ours > 0))
