"""HTML report: all sections in one self-contained file, with a glossary."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from adhere.report.section import SYMBOLS, VERDICTS, Listing, Section

if TYPE_CHECKING:
    from markupsafe import Markup


def _glossary() -> dict[str, str]:
    """Read the glossary from `templates/glossary.txt`, with one paragraph per word."""
    text = files(__package__).joinpath("templates/glossary.txt").read_text("utf-8")
    return dict(" ".join(entry.split()).split(": ", 1) for entry in text.split("\n\n"))


GLOSSARY = _glossary()


def anchor(word: str) -> str:
    """Return the anchor of a word in the page.

    >>> anchor("95% interval")
    'word-95-interval'
    """
    return "word-" + re.sub(r"\W+", "-", word.replace("γ", "gamma")).lower()


class Linker:
    """Function that links the first occurrence of each glossary word to its entry.

    >>> print(Linker()("Actual has more regret than Chosen"))
    <a class="word" href="#word-actual">Actual</a> has more <a class="word" href="#word-regret">regret</a> than <a \
class="word" href="#word-chosen">Chosen</a>
    """

    def __init__(self, glossary: Mapping[str, str] = GLOSSARY) -> None:
        self._linked: set[str] = set()
        # A word or its plural, but not a part of another word or term ("treatment policy") or of a policy's text.
        any_of_them = "|".join(sorted(map(re.escape, glossary), key=len, reverse=True))
        self._word = re.compile(rf"(?<![\w-])(?<!treatment )({any_of_them})s?(?![\w(/-])")

    def __call__(self, markup: str) -> Markup:
        """Return the markup with links; it must have no tags other than `wbr` and `span`."""
        from markupsafe import Markup

        return Markup(self._word.sub(self._link, str(markup)))

    def _link(self, found: re.Match[str]) -> str:
        word = found[1]
        if word in self._linked:
            return found[0]
        self._linked.add(word)
        return f'<a class="word" href="#{anchor(word)}">{found[0]}</a>'


_NUMBER = re.compile(r"[-+−±<≤>≥≈]?\s*\d[\de\s.,%×·^⁻⁰¹²³⁴-⁹+−–±\[\]()/-]*(\(n=[\d,]+\))?")
_LONG_WORD = re.compile(r"\S{20,}")
_BREAK = re.compile(r"(?<=[\w)\]][(\[,/_])(?=\w)")  # inside a long word, such as a policy, but not at its start
_MINUS = re.compile(r"(?<![^\s(\[])-(?=\d)")
_WHOLE = re.compile(r"\[[-+−]?[\d.,]+%?, [-+−]?[\d.,]+%?\]|ε-greedy")  # intervals, and a name with a hyphen
_NO_NUMBER = {"", "-", "–", "—", "reference"}  # cells without a number in a column of numbers
_LONG_CELL = 28  # characters; longer cells need room


class Opening(NamedTuple):
    """Top of a report, before its figures: sentences with the conclusions, and warnings."""

    title: str
    sentences: Sequence[str]
    warnings: Sequence[str]


@dataclass(frozen=True)
class ClaimWords:
    """Wording of claims on a page: the heading, the source of the claims, and the names of verdicts."""

    heading: str = "The paper’s claims beside this run"
    said: str = "The paper"
    verdicts: Mapping[str, str] = field(default_factory=dict)  # only verdicts with another name


ON_THE_PAPER = ClaimWords()


def page(
    title: str,
    sections: Sequence[Section],
    figures: Mapping[str, bytes],
    foot: Mapping[str, str],
    warning: str = "",
    *,
    lead: str = "",
    glossary: Mapping[str, str] = GLOSSARY,
    figure_files: bool = True,
    opening: Opening | None = None,
    claim_words: ClaimWords = ON_THE_PAPER,
) -> str:
    """Return the report as one self-contained file.

    `figures` has the SVG of each figure; a `warning` is shown at the top. With `figure_files`, the report links to
    the files figures/NAME.png and figures/NAME.svg beside it. A report that is not about the paper has a `lead`; it
    then has neither the summary of claims nor the table of all results. A report with an `opening` is about data
    rather than a run.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("adhere.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(anchor=anchor, breakable=_breakable, classes=_classes)
    verdicts = [claim.verdict for section in sections for claim in section.claims]
    return environment.get_template("page.html").render(
        title=title,
        sections=sections,
        counts={verdict: verdicts.count(verdict) for verdict in VERDICTS},
        symbols=SYMBOLS,
        glossary=glossary,
        linker=lambda: Linker(glossary),
        images={name: "data:image/svg+xml;base64," + base64.b64encode(svg).decode() for name, svg in figures.items()},
        foot=foot,
        warning=warning,
        lead=lead,
        figure_files=figure_files,
        opening=opening,
        claim_words=claim_words,
    )


def _breakable(text: str) -> Markup:
    """Escape a text, with true minus signs; lines break inside long words, but not inside intervals or "γ = ".

    >>> print(_breakable("thompson-bounded(hierarchical) > 7.2"))
    thompson-bounded(<wbr>hierarchical) &gt; 7.2
    >>> print(_breakable("-7.2 [-8.0, -6.4]"))
    −7.2 <span class="whole">[−8.0, −6.4]</span>
    """
    from markupsafe import Markup, escape

    text = text.replace("γ = ", "γ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    escaped = _LONG_WORD.sub(lambda word: _BREAK.sub("<wbr>", word[0]), str(escape(_MINUS.sub("−", text))))
    return Markup(_WHOLE.sub(lambda found: f'<span class="whole">{found[0]}</span>', escaped))


def _classes(listing: Listing) -> list[str]:
    """Return the CSS class of each column of a table: number, long text or text."""
    classes = []
    for number in range(len(listing.header)):
        said = [cell for row in listing.rows if (cell := row[number].strip()) not in _NO_NUMBER]
        is_number = said and all(_NUMBER.fullmatch(cell) for cell in said)
        classes.append("number" if is_number else "long" if any(len(cell) > _LONG_CELL for cell in said) else "text")
    return classes
