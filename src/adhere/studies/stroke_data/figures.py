"""The figures and listings of the stroke data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars

from adhere.populations.describe_records import PROTOCOL_TITLES
from adhere.report.dot_rows import common_limits
from adhere.report.dots import dots
from adhere.report.flow_diagram import flow_diagram
from adhere.report.numbers import interval_in
from adhere.report.section import Listing, ReportFigure
from adhere.studies.stroke_data.tables import REFERENCE, Facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def make_figures(facts: Facts) -> list[ReportFigure]:
    """All figures of the study."""
    return [
        ReportFigure(
            "stroke-survival",
            "Survival at 14 days under the three views, and its difference from none, with 95% intervals. Only "
            "intention-to-treat compares groups that were made by chance.",
            "Dots with intervals: the share alive at 14 days by trial, view and arm; its difference from none.",
            lambda: _survival_chart(facts.survival),
        ),
        ReportFigure(
            "stroke-flow",
            "The patients of the International Stroke Trial, from randomisation to the arm taken; shares are of "
            "those allocated to the arm.",
            f"Flow diagram: {facts.randomised:,} patients randomised, {facts.left_out:,} left out, "
            f"{facts.analysed:,} analysed; for each trial how many were allocated to each arm, and how many of them "
            "took which arm.",
            lambda: flow_diagram(facts.flow),
        ),
    ]


def _survival_chart(survival: polars.DataFrame) -> Figure:
    """Survival in per cent, and its difference from the reference arm in points, by view, trial and arm."""
    titles = {"share": "alive (%)", "difference": "difference (points)"}
    estimates = [
        survival.drop_nulls(name).select(
            style="arm",
            group=polars.col("view").replace_strict(PROTOCOL_TITLES),
            row=polars.col("trial") + " trial: " + polars.col("arm"),
            panel=polars.lit(title),
            mean=100 * polars.col(name),
            low=100 * polars.col(f"{name}_low"),
            high=100 * polars.col(f"{name}_high"),
        )
        for name, title in titles.items()
    ]
    return dots(
        polars.concat(estimates),
        x_label=f"alive at 14 days; difference from {REFERENCE}",
        limits={titles["share"]: common_limits(estimates[0])},
        zero=f"no difference from {REFERENCE}",
    )


def make_listings(facts: Facts) -> list[Listing]:
    """The counts, compliance and survival."""
    counts: list[list[str]] = []
    for (trial,), rows in facts.counts.group_by("trial", maintain_order=True):
        totals = (str(trial), "all", "all", *rows["survived", "died", "patients"].sum().row(0))
        counts += [[*row[:3], *(f"{number:,}" for number in row[3:])] for row in (*rows.rows(), totals)]
    compliance = [
        [row["trial"], row["allocated"], f"{row['patients']:,}", f"{row['complied']:,}", _percent(row)]
        for row in facts.compliance.to_dicts()
    ]
    header = ("trial", "allocated", "patients", "complied", "share")
    survival = []
    for row in facts.survival.to_dicts():
        difference = "reference" if row["arm"] == REFERENCE else interval_in(row, "difference").points()
        numbers = [f"{row['patients']:,}", f"{row['survived']:,}", _percent(row), difference]
        survival.append([row["trial"], PROTOCOL_TITLES[row["view"]], row["arm"], *numbers])
    return [
        Listing(
            "Patients by trial, arm allocated, arm taken and whether alive at 14 days.",
            ("trial", "allocated", "taken", "survived", "died", "patients"),
            counts,
        ),
        Listing("Compliance by arm, with 95% intervals.", header, compliance),
        Listing(
            "Survival at 14 days by view, and its difference from none in percentage points, with 95% intervals.",
            ("trial", "view", "arm", "patients", "survived", "share", "difference"),
            survival,
        ),
    ]


def _percent(row: Mapping[str, Any]) -> str:
    return interval_in(row, "share").percent()
