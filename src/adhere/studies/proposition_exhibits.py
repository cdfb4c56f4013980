"""The figures and tables of the study of Propositions 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adhere.report.dots import dots
from adhere.report.numbers import estimate_texts
from adhere.report.section import Drawing, Listing
from adhere.simulation import Estimate
from adhere.studies.proposition_tables import CONTROL_SHARES, N_DRAWN, N_PATIENTS

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure


def drawings(regret: polars.DataFrame, expectations: polars.DataFrame) -> list[Drawing]:
    """Who has least regret, and what each protocol sees of the arms."""
    return [
        Drawing(
            "propositions-regret",
            f"Regret after {N_PATIENTS} patients by learner and protocol, with 95% intervals. By Proposition 2 "
            "Actual should be best on alike, by Proposition 3 Comply on mild; unlike is the setting of the latter's "
            "proof.",
            "Dots with intervals: the regret of three learners under three protocols on three populations.",
            lambda: _regret_chart(regret),
        ),
        Drawing(
            "propositions-expectations",
            f"What each protocol sees of the arms, both chosen equally often: mean reward credited over {N_DRAWN:,} "
            "patients, with 95% intervals. Chosen's is what counts, by which the treatment is the better arm on all "
            "three populations.",
            "Dots with intervals: the mean reward of control and treatment as each protocol sees it.",
            lambda: _expectations_chart(expectations),
        ),
    ]


def _regret_chart(regret: polars.DataFrame) -> Figure:
    import polars

    return dots(
        regret.with_columns(polars.col("protocol").str.to_titlecase()),
        rows="protocol",
        groups="learner",
        columns="population",
        styles="protocol",
        x_label=f"regret after {N_PATIENTS} patients (rewards lost)",
        zero="always the better arm",
    )


def _expectations_chart(expectations: polars.DataFrame) -> Figure:
    import polars

    return dots(
        expectations.filter(control_share=CONTROL_SHARES[0]).with_columns(polars.col("protocol").str.to_titlecase()),
        rows="protocol",
        columns="population",
        styles="arm",
        x_label="mean reward credited to the arm",
        zero="",
    )


def listings(regret: polars.DataFrame, expectations: polars.DataFrame) -> list[Listing]:
    """Every figure of both charts."""
    return [
        Listing(
            f"Regret after {N_PATIENTS} patients, and its difference, on the same patients, from that of the "
            "protocol that the proposition favours, with 95% intervals.",
            ("population", "learner", "protocol", "regret", "difference"),
            [
                [
                    row["population"],
                    row["learner"],
                    row["protocol"].title(),
                    _text(row, "mean", "lo", "hi"),
                    _paired(row),
                ]
                for row in regret.to_dicts()
            ],
            folded=True,
        ),
        Listing(
            "The reward credited to each arm, in expectation: by the proof's formula, by the population itself, and "
            "as seen in simulated patients with 95% intervals; control is chosen with the probability q₀.",
            ("population", "q₀", "protocol", "arm", "formula", "population's", "seen"),
            [
                [
                    row["population"],
                    f"{row['control_share']:.1f}",
                    row["protocol"].title(),
                    row["arm"],
                    f"{row['formula']:.4f}",
                    f"{row['expected']:.4f}",
                    f"{row['mean']:.4f} [{row['lo']:.4f}, {row['hi']:.4f}]",
                ]
                for row in expectations.to_dicts()
            ],
            folded=True,
        ),
    ]


def _paired(row: Mapping[str, Any]) -> str:
    return "reference" if row["is_reference"] else _text(row, "difference", "difference_lo", "difference_hi", "+")


def _text(row: Mapping[str, Any], mean: str, lo: str, hi: str, sign: str = "") -> str:
    return estimate_texts([Estimate(row[mean], None, row[lo], row[hi])], sign)[0]
