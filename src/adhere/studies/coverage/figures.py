"""The page's figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars

from adhere.report.dots import dots
from adhere.report.section import ReportFigure
from adhere.studies.coverage.adaptive_trials import AIPW
from adhere.studies.coverage.cells import policy_label
from adhere.studies.coverage.coverage_map import coverage_map
from adhere.studies.coverage.facts import Facts
from adhere.studies.coverage.tables import FIXED_DESIGN
from adhere.studies.coverage.tally import LEAST_COVERAGE, MAX_MISSES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BESIDE = "beside them, promising nothing"
_MAIN_VIEWS = ("intention-to-treat", "compliers")


def fixed_figures(facts: Facts) -> list[ReportFigure]:
    """A map of every interval on every population, for each size."""
    found = []
    for patients in facts.fixed["n_patients"].unique(maintain_order=True):
        rows = _fixed_rows(facts, patients)
        name = f"fixed-{patients // 2}"
        caption = f"How often every interval covered, with {patients // 2:,} patients an arm."
        drawn = partial(coverage_map, rows, LEAST_COVERAGE)
        found.append(ReportFigure(name, caption, f"Coloured table. {caption}", drawn, wide=True))
    return found


def _fixed_rows(facts: Facts, patients: int) -> polars.DataFrame:
    """What is judged, by its view and quantity; then, as one group, what promises nothing."""
    rows = facts.fixed.filter(polars.col("n_patients") == patients)
    judged = (
        rows.filter(polars.col("judged"))
        .group_by("view", "quantity", "population", maintain_order=True)
        .agg(polars.col("coverage").min())
        .select(group="view", row="quantity", column="population", coverage="coverage")
    )
    beside = facts.beside(FIXED_DESIGN).filter(polars.col("n_patients") == patients)
    others = beside.select(
        group=polars.lit(_BESIDE),
        row=polars.format("{}: difference ({})", "view", polars.col("method").str.replace(r" \(.*", "")),
        column="population",
        coverage="coverage",
    )
    return polars.concat([judged, others])


def adaptive_figures(facts: Facts) -> list[ReportFigure]:
    """A map of sequences and what stands beside them, by policy; then how wide they are."""
    shown = (
        facts.adaptive.filter(polars.col("quantity") == "difference", polars.col("view").is_in(_MAIN_VIEWS))
        .sort("view", descending=True, maintain_order=True)
        .with_columns(label=polars.col("policy").map_elements(policy_label, polars.String))
    )
    rows = shown.select(
        group="population",
        row=polars.format("{}: {}", "view", polars.col("method").str.replace(r" \(.*", "")),
        column="label",
        coverage="coverage",
    )
    caption = "How often intervals for the effect covered, by population and policy; sequences at all times at once."
    drawn = partial(coverage_map, rows, 1 - MAX_MISSES)
    found = [ReportFigure("adaptive", caption, f"Coloured table. {caption}", drawn, wide=True)]
    widths = shown.filter(polars.col("median_width").is_not_null())
    said = "Median widths at the end of the trial; an effect lies between −1 and 1, so that 2 says nothing."
    found.append(ReportFigure("widths", said, f"Dots. {said}", partial(_widths, widths)))
    return found


def _widths(rows: polars.DataFrame) -> Figure:
    none, method = polars.lit(None, polars.Float64), polars.col("method")
    kind = (
        polars.when(method.str.contains(AIPW)).then(polars.lit(AIPW)).otherwise(method.str.split(", ").list.first())
    )
    table = rows.select(
        group="population", row="label", panel="view", style=kind,
        mean="median_width", low=none, high=none,
    )  # fmt: skip
    table = table.unique(["group", "row", "panel", "style"], maintain_order=True)
    return dots(table, x_label="median width at the end", zero="")
