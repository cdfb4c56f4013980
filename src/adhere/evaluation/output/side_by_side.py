"""Comparison of designs: every design minus the first, with the same patients."""

from typing import Any, NamedTuple

import polars as pl

from adhere.design.planned_looks import planned_looks
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.output.grid_figures import CLAIMS, claim_of
from adhere.evaluation.output.rows import ERRORS, UNKNOWN, column, is_known, listing, some_of
from adhere.evaluation.output.sentences import decided_by
from adhere.report.dots import dots
from adhere.report.section import Listing, ReportFigure

_MAX_DOTS = 20  # rows of the figure


class Compared(NamedTuple):
    """Characteristic by which designs are compared: its heading, whether it is a share, and its panel, if any."""

    heading: str
    is_share: bool = True
    panel: str = ""


COMPARED = {
    "type_one": Compared("type I error", panel="type I error, or power"),
    "power": Compared("power", panel="type I error, or power"),
    "sample_size": Compared("patients", is_share=False, panel="patients"),
    "recommended_inferior": Compared("recommended a worse arm", panel="recommended a worse arm"),
    "duration": Compared("days", is_share=False),
    "surplus": Compared("surplus", is_share=False),
}


def designs_table(evaluation: EvaluationData) -> Listing:
    """Table of the designs: policy, patients, looks and stopping method."""
    rows = [
        [
            design.name,
            design.policy,
            UNKNOWN if design.n_patients is None else f"{design.n_patients:,}",
            str(planned_looks(design)),
            decided_by(design),
        ]
        for design in evaluation.designs
    ]
    return Listing("The designs", ["design", "policy", "patients", "looks", "decided by"], rows)


def differences_table(evaluation: EvaluationData) -> Listing:
    """Table of differences with a row for each scenario and each design except the first."""
    rows = [row for place, row in enumerate(evaluation.results) if place % len(evaluation.designs)]
    reference = evaluation.results[0].design.name
    columns = {
        what.heading: column([row.difference(name).estimate for row in rows], percent=what.is_share, sign=True)
        for name, what in COMPARED.items()
    }
    caption = f"Differences from {reference}, paired by patients; of shares in percentage points ({ERRORS})"
    return listing(evaluation, rows, caption, columns)


def differences_figure(evaluation: EvaluationData) -> ReportFigure | None:
    """Figure of every design minus the first, with a panel for each characteristic."""
    reference, n_designs = evaluation.results[0].design.name, len(evaluation.designs)
    if n_designs < 2:
        return None
    places = some_of(range(len(evaluation.scenarios)), max(2, _MAX_DOTS // (n_designs - 1)))
    parts: list[dict[str, Any]] = []
    for place in places:
        for row in evaluation.results[place * n_designs + 1 : (place + 1) * n_designs]:
            for name, what in COMPARED.items():
                is_shown = what.panel and (name not in CLAIMS or name == claim_of(row))
                one = row.difference(name).estimate if is_shown else None
                if one is not None and is_known(one):
                    factor = 100.0 if what.is_share else 1.0
                    at = {"row": row.scenario.name, "panel": what.panel, "style": row.design.name}
                    ends = {"low": _times(one.low, factor), "high": _times(one.high, factor)}
                    parts.append({**at, "mean": factor * one.mean, **ends})
    moved = {part["panel"] for part in parts if part["mean"]}
    parts = [part for part in parts if part["panel"] in moved]  # characteristics that no design changes are left out
    if not parts:
        return None
    left_out = f" {len(places)} of {len(evaluation.scenarios)} scenarios." * (len(places) < len(evaluation.scenarios))
    return ReportFigure(
        "differences",
        f"Differences from {reference} with the same patients.{left_out} Bars: 95% Monte Carlo intervals of paired "
        "differences.",
        "; ".join(f"{one['row']}, {one['style']}, {one['panel']}: {one['mean']:+.2f}" for one in parts),
        lambda: dots(
            pl.DataFrame(parts, infer_schema_length=None),
            x_label=f"difference from {reference} (percentage points, or patients)",
            zero=f"as {reference}",
        ),
    )


def _times(end: float | None, factor: float) -> float | None:
    return None if end is None else factor * end
