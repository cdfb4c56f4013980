"""The page's figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars

from adhere.report.dots import dots
from adhere.report.section import ReportFigure
from adhere.studies.coverage.adaptive_reports import AIPW, NAIVE, SEQUENCE
from adhere.studies.coverage.cells import policy_label
from adhere.studies.coverage.coverage_map import coverage_map
from adhere.studies.coverage.facts import Facts
from adhere.studies.coverage.verdicts import LEAST_COVERAGE, MOST_MISSES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BESIDE = "beside them, promising nothing here"
_MAIN_VIEWS = ("intention-to-treat", "compliers")


def fixed_figures(facts: Facts) -> list[ReportFigure]:
    """A map of every interval on every population, for each size."""
    found = []
    for patients in facts.fixed["patients"].unique(maintain_order=True):
        rows = _fixed_rows(facts.fixed.filter(polars.col("patients") == patients))
        name = f"fixed-{patients // 2}"
        caption = f"How often every interval covered, with {patients // 2:,} patients an arm."
        drawn = partial(coverage_map, rows, LEAST_COVERAGE)
        found.append(ReportFigure(name, caption, f"Coloured table. {caption}", drawn, wide=True))
    return found


def _fixed_rows(rows: polars.DataFrame) -> polars.DataFrame:
    """What is judged somewhere by its view; the rest as one group, the differences alone."""
    judged = rows.filter(polars.col("judged")).select("view", "quantity", "method").unique()
    marked = rows.join(
        judged.with_columns(is_judged=True), ["view", "quantity", "method"], "left", maintain_order="left"
    )
    marked = marked.filter(polars.col("is_judged").fill_null(False) | (polars.col("quantity") == "difference"))
    is_judged = polars.col("is_judged").fill_null(False)
    beside = polars.format("{}, {}", "view", "method")
    named = (
        polars.when(polars.col("method") == "")
        .then("quantity")
        .otherwise(polars.format("{} ({})", "quantity", "method"))
    )
    found = marked.select(
        group=polars.when(is_judged).then("view").otherwise(polars.lit(_BESIDE)),
        row=polars.when(is_judged).then(named).otherwise(beside),
        column="population",
        coverage=polars.when(polars.col("judged") | ~is_judged).then("coverage"),
    )
    last = found["group"] == _BESIDE
    return polars.concat([found.filter(~last), found.filter(last)])


def adaptive_figures(facts: Facts) -> list[ReportFigure]:
    """A map of sequences and what stands beside them, by policy; then how wide they are."""
    shown = facts.adaptive.filter(
        polars.col("quantity") == "difference", polars.col("view").is_in(_MAIN_VIEWS)
    ).with_columns(label=polars.col("policy").map_elements(policy_label, polars.String))
    rows = shown.select(
        group="population", row=polars.format("{}, {}", "view", "method"), column="label", coverage="coverage"
    )
    caption = "How often intervals for the effect covered, by population and policy; sequences at all times at once."
    drawn = partial(coverage_map, rows, 1 - MOST_MISSES)
    found = [ReportFigure("adaptive", caption, f"Coloured table. {caption}", drawn, wide=True)]
    is_shown = polars.col("method").str.starts_with(SEQUENCE) | polars.col("method").str.starts_with(AIPW)
    widths = shown.filter(
        is_shown | polars.col("method").str.starts_with(NAIVE), polars.col("median_width").is_not_null()
    )
    said = "Median widths at the end of the trial; an effect lies between −1 and 1, so that 2 says nothing."
    found.append(ReportFigure("widths", said, f"Dots. {said}", partial(_widths, widths)))
    return found


def _widths(rows: polars.DataFrame) -> Figure:
    none = polars.lit(None, polars.Float64)
    table = rows.select(
        group="population", row="label", panel="view", style=polars.col("method").str.split(", ").list.first(),
        mean="median_width", lo=none, hi=none,
    )  # fmt: skip
    table = table.unique(["group", "row", "panel", "style"], maintain_order=True)
    return dots(table, x_label="median width at the end", zero="")
