"""Judge each kind of interval and test by its worst cell, as text and as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars

from adhere.report.text_table import paragraph
from adhere.studies.coverage.adaptive_trials import SEQUENCE
from adhere.studies.coverage.cells import policy_label
from adhere.studies.coverage.tables import ADAPTIVE_DESIGN, FIXED_DESIGN
from adhere.studies.coverage.tally import FAILS, HOLDS, LEAST_COVERAGE, MAX_MISSES, OPEN, worst
from adhere.studies.framework.study import Tables

SYMBOLS = {HOLDS: "✓", OPEN: "◐", FAILS: "✗"}


@dataclass(frozen=True)
class Judgement:
    """The promise for a kind of interval or test, the number of cells tried, and the result in the worst cell."""

    design: str
    what: str
    method: str
    bar: str
    n_cells: int
    share: float  # coverage, or rate of false alarms, in the worst cell
    limits: tuple[float, float]
    where: str
    widths: tuple[float | None, float | None]  # least and largest median width over all cells; None: unbounded
    verdict: str

    @property
    def found(self) -> str:
        """The share in the worst cell, with its Monte Carlo interval."""
        low, high = self.limits
        return f"{self.share:.1%} [{low:.1%}, {high:.1%}] in {self.where}"


def judge(tables: Tables) -> list[Judgement]:
    """Return every judgement: intervals of fixed designs, then of adaptive ones, then tests of both."""
    found = []
    for design in (FIXED_DESIGN, ADAPTIVE_DESIGN):
        rows = tables["intervals"].filter(design=design, judged=True)
        found += [_of_intervals(group) for group in _groups(rows, ("view", "quantity"))]
    for design in (FIXED_DESIGN, ADAPTIVE_DESIGN):
        rows = tables["tests"].filter(polars.col("n_trials") > 0, design=design, judged=True)
        found += [_of_tests(group) for group in _groups(rows, ("test",))]
    return found


def _groups(rows: polars.DataFrame, columns: Sequence[str]) -> list[list[dict[str, Any]]]:
    return [group.to_dicts() for _, group in rows.group_by(*columns, maintain_order=True)]


def _of_intervals(rows: list[dict[str, Any]]) -> Judgement:
    given = [row for row in rows if row["coverage"] is not None]
    least = min(given, key=lambda row: row["coverage"])
    is_fixed = least["design"] == FIXED_DESIGN
    # A sequence is the intersection of its sets over time. The limits of bounds are those at the end.
    when = "ever misses" if least["method"] == SEQUENCE else "misses at the end"
    bar = f"covers in at least {LEAST_COVERAGE:.0%}" if is_fixed else f"{when} in at most {MAX_MISSES:.0%}"
    share, low, high = least["coverage"], least["coverage_low"], least["coverage_high"]
    if not is_fixed:
        share, low, high = 1 - share, 1 - high, 1 - low
    medians = [row["median_width"] for row in given]
    bounded = [width for width in medians if width is not None]
    widths = min(bounded, default=None), None if None in medians else max(bounded, default=None)
    method = "; ".join(dict.fromkeys(row["method"] for row in given))
    return Judgement(
        least["design"], f"{least['view']}: {least['quantity']}", method, bar, len(given), share,
        (low, high), where(least), widths, worst([row["verdict"] for row in given]),
    )  # fmt: skip


def _of_tests(rows: list[dict[str, Any]]) -> Judgement:
    most = max(rows, key=lambda row: row["rate"])
    bar = f"false alarms in at most {MAX_MISSES:.0%}"
    verdict = worst([row["verdict"] for row in rows])
    limits = most["rate_low"], most["rate_high"]
    return Judgement(
        most["design"], f"test: {most['test']}", "", bar, len(rows), most["rate"], limits, where(most), (None, None),
        verdict,
    )  # fmt: skip


def where(row: dict[str, Any]) -> str:
    """Return a description of a row's cell."""
    if row["design"] == FIXED_DESIGN:
        return f"“{row['population']}”, {row['n_patients'] // 2} an arm"
    return f"“{row['population']}” under {policy_label(row['policy'])}"


def width_text(widths: tuple[float | None, float | None]) -> str:
    """Return the range of median widths as text.

    >>> width_text((0.1, 0.25)), width_text((0.1, None)), width_text((None, None))
    ('0.10 to 0.25', '0.10 to unbounded', '–')
    """
    low, high = widths
    if low is None:
        return "–"
    if high is not None and f"{low:.2f}" == f"{high:.2f}":
        return f"{low:.2f}"
    return f"{low:.2f} to {'unbounded' if high is None else f'{high:.2f}'}"


LEGEND = (
    "share: of trials in which the interval contained the truth (fixed designs), ever missed it (sequences), missed"
    " it at the end (other limits in adaptive designs), or a test raised a false alarm, in the worst population. ✓"
    " holds: the share meets the bar; ◐ open: it does not, but chance may explain it; ✗ fails: chance does not."
)
_SHARE = 9
_HEADER = ("design", "what", "method", "bar", "cells", "in the worst cell", "median widths", "verdict")


def summary(judgements: Sequence[Judgement], width: int = 100) -> str:
    """Return a line per judgement, under the design's name; it shows the worst cell unless the promise holds."""
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
    """Return the judgements as a Markdown table."""
    lines = [f"| {' | '.join(_HEADER)} |", f"|{'---|' * len(_HEADER)}"]
    for one in judgements:
        n_cells = f"{one.n_cells}"
        widths = width_text(one.widths) if one.method or one.design == FIXED_DESIGN else "–"
        cells = (one.design, one.what, one.method or "–", one.bar, n_cells, one.found, widths,
                 f"{SYMBOLS[one.verdict]} {one.verdict}")  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
