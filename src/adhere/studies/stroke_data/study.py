"""Describe the stroke data. Every figure is counted from the table shipped with the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars

from adhere.populations.describe import PROTOCOL_TITLES
from adhere.populations.stroke import ARMS, SOURCE, shipped_counts
from adhere.report.consort_flow import FlowBox, FlowColumn, consort_flow
from adhere.report.dots import dots
from adhere.report.numbers import Interval, columns_of, interval_in, share, share_difference
from adhere.simulation import SimulationResult
from adhere.studies.framework.study import Study, Tables
from adhere.studies.framework.words import Cells, Charts, section_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Counts in the published file (Sandercock, Niewada, Członkowska 2011, doi 10.7488/ds/104): its patients, and the
# patients whose compliance (CMPLASP, CMPLHEP) is blank, which the shipped counts omit.
RANDOMISED, COMPLIANCE_UNKNOWN = 19_435, 13

PAPERS_PATIENTS = 19_422  # section 4 of the paper
REFERENCE = "none"


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Return the shipped counts, with compliance, survival under each view, and the flow of patients."""
    counts = polars.DataFrame([row._asdict() for row in shipped_counts()])
    counts = counts.with_columns(patients=polars.col("survived") + polars.col("died"))
    return {
        "counts": counts,
        "compliance": compliance_by_arm(counts),
        "survival": survival_by_view(counts, REFERENCE),
        "flow": _flow(counts),
    }


def _flow(counts: polars.DataFrame) -> polars.DataFrame:
    """Return the number of patients in each box of the flow diagram."""
    analysed = counts.filter(trial="aspirin")["patients"].sum()  # every patient is in both trials
    rows: list[dict[str, object]] = [
        {"step": "randomised", "patients": RANDOMISED},
        {"step": "left out", "patients": COMPLIANCE_UNKNOWN},
        {"step": "analysed", "patients": analysed},
    ]
    for (trial, allocated), group in counts.group_by("trial", "allocated", maintain_order=True):
        place = {"trial": trial, "allocated": allocated}
        rows.append({"step": "allocated", **place, "patients": group["patients"].sum()})
        rows += [{"step": "taken", **place, **taken} for taken in group["taken", "patients"].to_dicts()]
    order = ("step", "trial", "allocated", "taken", "patients")
    return polars.DataFrame(rows, infer_schema_length=None).select(order)


def compliance_by_arm(counts: polars.DataFrame) -> polars.DataFrame:
    """Return the share of patients allocated to each arm who took it, from counts by trial, allocated and taken."""
    complied = polars.col("patients").filter(polars.col("taken") == polars.col("allocated")).sum()
    arms = counts.group_by("trial", "allocated", maintain_order=True).agg(polars.sum("patients"), complied=complied)
    rows = [{**row, **columns_of(share(row["complied"], row["patients"]), "share")} for row in arms.to_dicts()]
    return polars.DataFrame(rows)


def survival_by_view(counts: polars.DataFrame, reference: str) -> polars.DataFrame:
    """Return survival in each arm as Chosen, Actual and Comply see it, and its difference from the reference arm."""
    credited = {"chosen": ["allocated"], "actual": ["taken"], "comply": ["allocated", "taken"]}
    rows = []
    for (trial,), patients in counts.group_by("trial", maintain_order=True):
        for view, columns in credited.items():
            arms = patients["allocated"].unique(maintain_order=True)
            groups = {arm: patients.filter(**dict.fromkeys(columns, arm)) for arm in arms}
            alive = {arm: share(_sum(group, "survived"), _sum(group, "patients")) for arm, group in groups.items()}
            for arm, group in groups.items():
                numbers = {name: _sum(group, name) for name in ("patients", "survived")} | columns_of(
                    alive[arm], "share"
                )
                if arm != reference:
                    numbers |= columns_of(share_difference(alive[arm], alive[reference]), "difference")
                rows.append({"trial": trial, "view": view, "arm": arm, **numbers})
    return polars.DataFrame(rows, infer_schema_length=None)


def _sum(rows: polars.DataFrame, column: str) -> int:
    return int(rows[column].sum())


class Facts:
    """The tables, with the figures that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.counts, self.compliance = tables["counts"], tables["compliance"]
        self.survival, self.flow = tables["survival"], tables["flow"]
        self.randomised, self.left_out, self.analysed = self.flow["patients"].to_list()[:3]

    def alive(self, trial: str, view: str, arm: str, name: str = "share") -> Interval:
        """Return the share alive at 14 days, or its `difference` from the reference arm."""
        (row,) = self.survival.filter(trial=trial, view=view, arm=arm).to_dicts()
        return interval_in(row, name)

    def complied(self, trial: str) -> str:
        """Return the share of patients allocated to each arm of a trial who took it, as text."""
        rows = self.compliance.filter(trial=trial).to_dicts()
        return ", ".join(f"{row['share']:.1%} ({row['allocated']})" for row in rows)

    def alive_if_allocated_aspirin(self) -> dict[str, float]:
        """Return the share alive among patients allocated aspirin, by the arm they took."""
        groups = self.counts.filter(trial="aspirin", allocated="aspirin").to_dicts()
        return {row["taken"]: row["survived"] / row["patients"] for row in groups}

    def best_dose(self) -> tuple[str, Interval]:
        """Return the dose of heparin with the largest difference, and that difference."""
        return max(self.heparin_doses().items(), key=lambda one: one[1].mean)

    def heparin_doses(self) -> dict[str, Interval]:
        """Return the difference in survival between each dose and the reference arm, by intention to treat."""
        return {
            arm: self.alive("heparin", "chosen", arm, "difference") for arm in ARMS["heparin"] if arm != REFERENCE
        }


def points(one: Interval) -> str:
    """Return a difference in percentage points as text, without its interval."""
    return f"{round(100 * one.mean, 2) + 0.0:+.2f}"  # + 0.0 turns -0.0 into 0.0


def charts(facts: Facts) -> Charts:
    """Return all figures of the study."""
    return {
        "stroke-survival": lambda: _survival_chart(facts.survival),
        "stroke-flow": lambda: _flow_chart(facts),
    }


def _flow_chart(facts: Facts) -> Figure:
    """Draw the flow from randomisation to the arm taken, in a column per arm of each trial."""
    columns = []
    arms = facts.flow.drop_nulls("allocated").group_by("trial", "allocated", maintain_order=True)
    for (trial, allocated), rows in arms:
        total, *taken = rows.to_dicts()
        n = total["patients"]
        boxes = [
            FlowBox(
                f"took {one['taken']}: {one['patients']:,} ({one['patients'] / n:.1%})", one["taken"] != allocated
            )
            for one in taken
        ]
        columns.append(FlowColumn(f"{trial} trial, allocated {allocated}: {n:,}", boxes))
    top = f"randomised: {facts.randomised:,}; analysed: {facts.analysed:,}"
    note = "Each patient is in both trials. Dashed: took another arm than the one allocated."
    return consort_flow(top, [f"left out: {facts.left_out:,} (compliance unknown)"], columns, note)


def _survival_chart(survival: polars.DataFrame) -> Figure:
    """Draw survival in per cent, and its difference from the reference arm in points, by view, trial and arm."""
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
        same_axis=[titles["share"]],
        zero=f"no difference from {REFERENCE}",
    )


def cells(facts: Facts) -> Cells:
    """Return tables of the counts, compliance and survival."""
    counts: list[list[str]] = []
    for (trial,), rows in facts.counts.group_by("trial", maintain_order=True):
        totals = (str(trial), "all", "all", *rows["survived", "died", "patients"].sum().row(0))
        counts += [[*row[:3], *(f"{number:,}" for number in row[3:])] for row in (*rows.rows(), totals)]
    compliance = [
        [row["trial"], row["allocated"], f"{row['patients']:,}", f"{row['complied']:,}", _percent(row)]
        for row in facts.compliance.to_dicts()
    ]
    survival = []
    for row in facts.survival.to_dicts():
        difference = "reference" if row["arm"] == REFERENCE else interval_in(row, "difference").points()
        numbers = [f"{row['patients']:,}", f"{row['survived']:,}", _percent(row), difference]
        survival.append([row["trial"], PROTOCOL_TITLES[row["view"]], row["arm"], *numbers])
    return {
        "counts": (("trial", "allocated", "taken", "survived", "died", "patients"), counts),
        "compliance": (("trial", "allocated", "patients", "complied", "share"), compliance),
        "survival": (("trial", "view", "arm", "patients", "survived", "share", "difference"), survival),
    }


def _percent(row: Mapping[str, Any]) -> str:
    return interval_in(row, "share").percent()


STUDY = Study(
    "stroke-data", "The stroke data itself", {}, make_tables, section_of(__name__, Facts, charts, cells, SOURCE)
)
