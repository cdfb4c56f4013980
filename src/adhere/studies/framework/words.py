"""The text of a study: its template `words.txt` is rendered with the study's facts and split into parts of a report.

- `[question]`, `[result]`, `[uncertainty]` or `[details]` on a line begins a text.
- `[claim VERDICT]` begins a claim, with a paragraph each for the statement, the paper's figure and ours.
- `[figure NAME]`, `[wide figure NAME]` and `[headline NAME]` begin a figure's caption, followed by a description for
  people who cannot see it.
- `[table NAME]` and `[folded table NAME]` begin a table's caption.
- A page with several sections separates them by `[section NAME]` and `[title]`.
- Such a page has a glossary: `[word NAME]` begins a definition; without one, the report's glossary is used.

Blank lines separate paragraphs.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from adhere.errors import joined
from adhere.report.numbers import counted, estimate_texts
from adhere.report.page import GLOSSARY, ON_THE_PAPER, ClaimWords, page
from adhere.report.section import Claim, Listing, ReportFigure, Section, verdict_on
from adhere.report.style import figure_files
from adhere.simulation import Estimate

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

Tables = Mapping[str, "polars.DataFrame"]
F = TypeVar("F")
Charts = Mapping[str, Callable[[], "Figure"]]  # functions that draw the figures, by name
Rows = Sequence[Sequence[str]]
Table = tuple[Sequence[str], Rows]  # heading and rows
Cells = Mapping[str, Table]  # tables by name
_TEXTS = ("question", "result", "uncertainty")
_KINDS = (
    "section|title|lead|question|result|uncertainty|details|claim|(?:wide )?figure|headline|(?:folded )?table|word"
)
_BLOCK = re.compile(rf"^\[({_KINDS})(?: ([^]\n]+))?\]", re.MULTILINE)


class Block(NamedTuple):
    """A part of a rendered template: its kind, its name, and its paragraphs."""

    kind: str
    name: str
    paragraphs: list[str]


def read_blocks(package: str, context: Mapping[str, Any]) -> list[Block]:
    """Render a package's `words.txt` and split it into blocks."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package, ""),
        autoescape=False,  # plain text: the page escapes it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        f=format,
        listed=joined,
        percent=percent,
        share=share,
        counted=counted,
        mean=mean_text,
        estimate=estimate_text,
        estimates=estimate_texts,
    )
    environment.globals.update(verdict_on=verdict_on)
    _, *parts = _BLOCK.split(environment.get_template("words.txt").render(context))
    blocks = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [Block(kind, name or "", _paragraphs(text)) for kind, name, text in blocks]


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def write_sections(blocks: Iterable[Block], charts: Charts, cells: Cells, source: str = "") -> list[Section]:
    """Return the sections of a page. A study's template has one section, without a name."""
    parts: list[list[Block]] = []
    for block in blocks:
        if block.kind == "section" or not parts:
            parts.append([])
        parts[-1].append(block)
    return [_section(part, charts, cells, source) for part in parts]


def _section(blocks: Sequence[Block], charts: Charts, cells: Cells, source: str) -> Section:
    texts = {one.kind: one.paragraphs for one in blocks}
    texts.setdefault("title", [""])
    claims, figures, listings, headline = [], [], [], None
    for kind, name, paragraphs in blocks:
        if kind == "claim":
            statement, paper, ours = paragraphs
            claims.append(Claim(statement, paper, ours, name))
        elif kind == "headline" or "figure" in kind:
            caption, alternative = paragraphs
            figure = ReportFigure(name, caption, alternative, charts[name], wide="wide" in kind)
            headline = figure if kind == "headline" else headline
            figures += [] if kind == "headline" else [figure]
        elif "table" in kind:
            listings.append(Listing(paragraphs[0], *cells[name], folded="folded" in kind))
    title, question, result, uncertainty = (texts[name][0] for name in ("title", *_TEXTS))
    named = next((one.name for one in blocks if one.kind == "section"), "")
    details = texts.get("details", [])
    return Section(
        named, title, question, result, uncertainty, claims, figures, listings, source, details, headline
    )  # fmt: skip


def section_of(
    module: str,
    facts: Callable[[Tables], F],
    charts: Callable[[F], Charts],
    cells: Callable[[F], Cells],
    source: str = "",
    names: Mapping[str, Any] = MappingProxyType({}),
) -> Callable[[Tables], Section]:
    """Return a function that makes a study's section from its tables.

    The template sees the facts, the names of the study's module, and `names`.
    """

    def render(tables: Tables) -> Section:
        found, own = facts(tables), sys.modules[module]
        blocks = read_blocks(str(own.__package__), {**names, **vars(own), "facts": found})
        (section,) = write_sections(blocks, charts(found), cells(found), source)
        return section

    return render


class StudyPage:
    """A page of several sections. Its lead and sections are a package's template, rendered with facts and `names`."""

    def __init__(
        self, package: str | None, facts: Any, charts: Charts, cells: Cells, names: Mapping[str, Any]
    ) -> None:
        context = {**names, "facts": facts, "charts": charts, "cells": cells}
        lead, *blocks = read_blocks(str(package), context)
        self.lead, self.sections = lead.paragraphs[0], write_sections(blocks, charts, cells)
        words = [one for one in blocks if one.kind == "word"]
        self.glossary = {one.name: " ".join(one.paragraphs) or GLOSSARY[one.name] for one in words}

    def html(self, title: str, foot: Mapping[str, str], warning: str, claim_words: ClaimWords = ON_THE_PAPER) -> str:
        """Return the page as one self-contained HTML file. `foot` describes the run."""
        figures = [figure for section in self.sections for figure in section.all_figures()]
        drawn = {one.name: figure_files(one.draw, [".svg"])[".svg"] for one in figures}
        return page(
            title, self.sections, drawn, foot, warning, lead=self.lead, glossary=self.glossary, figure_files=False,
            claim_words=claim_words,
        )  # fmt: skip


def ends(one: Estimate) -> tuple[float, float]:
    """Return both ends of an estimate's interval, or its mean twice if it has no interval."""
    return (one.mean, one.mean) if one.low is None or one.high is None else (one.low, one.high)


def percent(one: Estimate) -> str:
    """Return a share as text, with its interval if the interval is wide enough to show.

    >>> percent(Estimate(0.495, 0.016, 0.464, 0.526))
    '49.5% [46.4%, 52.6%]'
    >>> percent(Estimate(0.0002, 0.00001, 0.00018, 0.00022))
    '<0.1%'
    """
    mean, low, high = map(share, (one.mean, *ends(one)))
    return mean if low == high else f"{mean} [{low}, {high}]"


def share(value: float) -> str:
    """Return a share as a percentage. A positive share too small to print is "<0.1%"."""
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def estimate_text(one: Estimate, digits: int | None = None, sign: str = "") -> str:
    """Return a mean with its interval as text."""
    return estimate_texts([one], sign, digits=digits)[0]


def mean_text(one: Estimate, digits: int = 1) -> str:
    """Return a mean as text, without its interval."""
    return estimate_texts([one], intervals=False, digits=digits)[0]


TYPES_HEADER = ("population", "compliance type", "probability", "reward of control", "reward of treatment")


def type_rows(types: Iterable[tuple[str, str, Sequence[float | None]]]) -> Rows:
    """Return a row per compliance type: population, name, probability, and mean rewards (a dash for an arm never
    taken).
    """
    return [
        [population, name, *("–" if number is None else f"{number:.2f}" for number in numbers)]
        for population, name, numbers in types
    ]
