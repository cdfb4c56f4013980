"""The tables of the stroke data, from counts to the flow of patients, and what they say."""

from __future__ import annotations

from collections.abc import Mapping

import polars

from adhere.populations.stroke import ARMS, shipped_counts
from adhere.report.numbers import Interval, interval_in, share, share_difference
from adhere.simulation import SimulationResult
from adhere.studies.framework.study import Tables

# Of the published file (Sandercock, Niewada, Członkowska 2011, doi 10.7488/ds/104): its patients, and those of them
# whose compliance (CMPLASP, CMPLHEP) is blank, whom the shipped counts leave out.
RANDOMISED, COMPLIANCE_UNKNOWN = 19_435, 13

REFERENCE = "none"


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The shipped counts, and made of them compliance, survival under each view and the flow of patients."""
    counts = polars.DataFrame([row._asdict() for row in shipped_counts()])
    counts = counts.with_columns(patients=polars.col("survived") + polars.col("died"))
    return {
        "counts": counts,
        "compliance": compliance_by_arm(counts),
        "survival": survival_by_view(counts, REFERENCE),
        "flow": _flow(counts),
    }


def _flow(counts: polars.DataFrame) -> polars.DataFrame:
    """Each box of the flow diagram, and how many patients are in it."""
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
    """The share of those allocated to each arm who took it, for counts by trial, allocated, taken."""
    complied = polars.col("patients").filter(polars.col("taken") == polars.col("allocated")).sum()
    arms = counts.group_by("trial", "allocated", maintain_order=True).agg(polars.sum("patients"), complied=complied)
    rows = [{**row, **share(row["complied"], row["patients"]).columns("share")} for row in arms.to_dicts()]
    return polars.DataFrame(rows)


def survival_by_view(counts: polars.DataFrame, reference: str) -> polars.DataFrame:
    """Survival in each arm as Chosen, Actual and Comply see it, and how far it is from that in the reference arm."""
    credited = {"chosen": ["allocated"], "actual": ["taken"], "comply": ["allocated", "taken"]}
    rows = []
    for (trial,), patients in counts.group_by("trial", maintain_order=True):
        for view, columns in credited.items():
            arms = patients["allocated"].unique(maintain_order=True)
            groups = {arm: patients.filter(**dict.fromkeys(columns, arm)) for arm in arms}
            alive = {arm: share(_sum(group, "survived"), _sum(group, "patients")) for arm, group in groups.items()}
            for arm, group in groups.items():
                numbers = {name: _sum(group, name) for name in ("patients", "survived")} | alive[arm].columns("share")
                if arm != reference:
                    numbers |= share_difference(alive[arm], alive[reference]).columns("difference")
                rows.append({"trial": trial, "view": view, "arm": arm, **numbers})
    return polars.DataFrame(rows, infer_schema_length=None)


def _sum(rows: polars.DataFrame, column: str) -> int:
    return int(rows[column].sum())


class Facts:
    """The tables with the few figures that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.counts, self.compliance = tables["counts"], tables["compliance"]
        self.survival, self.flow = tables["survival"], tables["flow"]
        self.randomised, self.left_out, self.analysed = self.flow["patients"].to_list()[:3]

    def alive(self, trial: str, view: str, arm: str, name: str = "share") -> Interval:
        """The share alive at 14 days, or its `difference` from that of the reference arm."""
        (row,) = self.survival.filter(trial=trial, view=view, arm=arm).to_dicts()
        return interval_in(row, name)

    def heparin_doses(self) -> dict[str, Interval]:
        """The difference that each dose makes by intention to treat."""
        return {
            arm: self.alive("heparin", "chosen", arm, "difference") for arm in ARMS["heparin"] if arm != REFERENCE
        }
