"""Text that fits the width of a terminal: paragraphs, tables, and the paper's claims beside the results."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from adhere.report.numbers import counted
from adhere.report.section import ON_THE_PAPER, OURS, SYMBOLS, Claim, Section


def packed(pieces: Sequence[str], width: int) -> list[str]:
    """Pack pieces into lines, as many per line as fit; only pieces wider than a line are broken.

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
    """Break a policy's text after brackets and commas.

    >>> policy_lines("hierarchical(epsilon-greedy, top=exp3(gamma=0.085))", 30)
    ['hierarchical(epsilon-greedy,', 'top=exp3(gamma=0.085))']
    """
    return packed(re.findall(r"[^(,\s]+[(,]?\s*|\W\s*", policy), width)


def paragraph(text: str, width: int, indent: str = "") -> str:
    """Wrap a text into lines of a width, each indented."""
    return textwrap.fill(
        " ".join(text.split()),
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


_NARROWEST, _WIDEST_PIECE = 4, 26  # characters, minimum widths of a broken column
_BETWEEN = "  "
UNBROKEN = 1_000_000  # characters, the width for tables with unbroken cells
_PIECE = re.compile(r"\[[^]]*]|\S+")  # an interval, or a word
_GLUE = "\N{NO-BREAK SPACE}"


def text_table(rows: Sequence[Sequence[str]], width: int, align: str = "", indent: str = "  ") -> str:
    """Return a table as text, with columns aligned to the left (l) or to the right (r) by `align`.

    The last letter of `align` is used for all further columns. The first row is the heading. If the table does not
    fit, cells of the widest columns are broken at spaces, but not inside intervals. Words are broken only as a last
    resort.

    >>> print(text_table([["arm", "mean"], ["a long name", "0.5 [0.4, 0.6]"]], 22, "lr"))
      arm             mean
      a long           0.5
      name      [0.4, 0.6]
    """
    return text_tables([rows], width, align, indent)[0]


def text_tables(
    tables: Sequence[Sequence[Sequence[str]]], width: int, align: str = "", indent: str = "  "
) -> list[str]:
    """Return several tables as text, like `text_table`, with the same column widths in all of them."""
    columns = _columns(tables)
    align = align.ljust(len(columns), align[-1]) if align else "l".ljust(len(columns), "r")
    widths = _fitted(columns, _room(len(columns), width, indent))
    return [_set(rows, widths, align, indent) for rows in tables]


def fits(tables: Sequence[Sequence[Sequence[str]]], width: int, indent: str = "  ") -> bool:
    """Return whether tables with the same column widths fit a width if only headings may be broken.

    >>> fits([[["mean", "a long heading"], ["0.5 [0.4, 0.6]", "1"]]], 25)
    True
    """
    columns = _columns(tables)
    least = [max([_longest_word(column[:1]), *map(len, column[1:])]) for column in columns]
    return sum(least) <= _room(len(columns), width, indent)


def _columns(tables: Sequence[Sequence[Sequence[str]]]) -> list[tuple[str, ...]]:
    """Return the columns of all tables, each with its heading once."""
    return list(zip(tables[0][0], *(row for rows in tables for row in rows[1:]), strict=True))


def _room(n_columns: int, width: int, indent: str) -> int:
    return width - len(indent) - len(_BETWEEN) * (n_columns - 1)


def _set(rows: Sequence[Sequence[str]], widths: Sequence[int], align: str, indent: str) -> str:
    cells = [[_broken(cell, wide) for cell, wide in zip(row, widths, strict=True)] for row in rows]
    return "\n".join(line for row in cells for line in _side_by_side(row, widths, align, indent))


def _side_by_side(
    cells: Sequence[Sequence[str]], widths: Sequence[int], align: str, indent: str = ""
) -> Iterator[str]:
    """Iterate over the lines of a row of multi-line cells."""
    for parts in zip_longest(*cells, fillvalue=""):
        columns = zip(parts, widths, align, strict=True)
        padded = [part.rjust(wide) if side == "r" else part.ljust(wide) for part, wide, side in columns]
        yield (indent + _BETWEEN.join(padded)).rstrip()


def _longest_word(cells: Sequence[str]) -> int:
    return max((len(one) for cell in cells for one in _PIECE.findall(cell)), default=0)


def _fitted(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the widths of the columns; the widest are reduced: first headings, then cells to their longest words."""
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


_HEADER = ("verdict", "claim", "the paper", "this run")
_NARROWEST_COLUMNS = 72  # characters; in narrower terminals, texts are printed below each other
_WORD = re.compile(r"\[[^\s\]]+, [^\s\]]+\]\S* ?|\S+ ?")  # an interval counts as one word
_BREAK = re.compile(r"(?<=\w[(\[,/])(?=[^\W\d])")
_LONG = 20  # characters; longer words are broken after brackets, commas and slashes


def claims_table(sections: Sequence[Section], width: int = 80) -> str:
    """Return a table of claims by study, with verdict, the paper's result and ours; then the counts of verdicts.

    The table has columns if the width allows; otherwise the texts of a claim are below each other.
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


def study_lines(sections: Sequence[Section], width: int = 80) -> str:
    """Return a line for each study, with its title and its number of claims by verdict; then the totals."""
    verdicts = ["  ".join(_verdicts(section)) for section in sections]
    n_title = min(max(len(section.title) for section in sections), max(_LONG, width - max(map(len, verdicts)) - 2))
    titles = [textwrap.shorten(section.title, n_title, placeholder="…").ljust(n_title) for section in sections]
    lines = [f"{title}  {counts}".rstrip() for title, counts in zip(titles, verdicts, strict=True)]
    claims = [claim for section in sections for claim in section.claims]
    return "\n".join([*lines, "", paragraph(_counted(claims), width)]).rstrip()


def _verdicts(section: Section) -> list[str]:
    return [f"{n} {SYMBOLS[verdict]} {verdict}" for verdict, n in section.counted_verdicts().items() if n]


def _cells(claim: Claim) -> tuple[str, str, str, str]:
    return f"{SYMBOLS[claim.verdict]} {claim.verdict}", claim.statement, claim.paper, claim.ours


def _widths(claims: Sequence[Claim], width: int) -> list[int]:
    """Return the column widths. The first is never broken; the others get shares of the remaining width."""
    needed = [max(map(len, column)) for column in zip(_HEADER, *map(_cells, claims), strict=True)]
    verdict, statement, paper, ours = needed
    room = width - verdict - 3 * len(_BETWEEN)
    statement, paper = min(statement, room * 38 // 100), min(paper, room * 22 // 100)
    return [verdict, statement, paper, min(ours, room - statement - paper)]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    columns = [_lines(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return "\n".join(_side_by_side(columns, widths, "l" * len(widths)))


def _stacked(claim: Claim, width: int) -> str:
    verdict, statement, paper, ours = _cells(claim)
    indent = _BETWEEN * 2
    texts = (f"{verdict}: {statement}", f"the paper: {paper}", f"this run: {ours}")
    lines = [_lines(text, max(20, width - len(indent))) for text in texts]
    return "\n".join([*lines[0], *(indent + line for under in lines[1:] for line in under)])


def _lines(text: str, width: int) -> list[str]:
    """Break a text between words and inside long words, such as policies, but not inside intervals.

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
    of_the_paper, of_our_own = f"{counted(n_papers, 'claim')} of the paper: {counts}", counted(n_ours, "finding")
    return "; ".join([of_the_paper] * (n_papers > 0) + [f"{of_our_own} of our own"] * (n_ours > 0))
