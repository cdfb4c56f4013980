"""The tables of the stroke data: counts, compliance, survival under each view, and the flow of patients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adhere.populations.stroke import shipped_counts
from adhere.report.proportions import compliance_by_arm, survival_by_view
from adhere.simulation import SimulationResult

if TYPE_CHECKING:
    import polars

    from adhere.studies.framework.study import Tables

# Of the published file (Sandercock, Niewada, Członkowska 2011, doi 10.7488/ds/104): its patients, and those of them
# whose compliance (CMPLASP, CMPLHEP) is blank, whom the shipped counts leave out.
RANDOMISED, COMPLIANCE_UNKNOWN = 19_435, 13

REFERENCE = "none"


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The shipped counts, and made of them compliance, survival under each view and the flow of patients."""
    import polars

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
    import polars

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
