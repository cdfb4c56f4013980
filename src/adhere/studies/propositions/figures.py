"""The figures and listings of Propositions 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars

from adhere.report.dots import dots
from adhere.report.numbers import estimate_in_row, estimate_texts
from adhere.report.section import Listing, ReportFigure
from adhere.simulation import Estimate
from adhere.studies.framework.words import compliance_type_listing
from adhere.studies.propositions.experiments import ARMS, N_PATIENTS
from adhere.studies.propositions.tables import CONTROL_SHARES, N_DRAWN, Facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def make_figures(facts: Facts) -> list[ReportFigure]:
    """Who has least regret, and what each protocol sees of the arms."""
    return [
        ReportFigure(
            "propositions-regret",
            f"Regret after {N_PATIENTS} patients by learner and protocol, with 95% intervals. By Proposition 2 "
            "Actual should be best on alike, by Proposition 3 Comply on mild; unlike is the setting of the latter's "
            "proof.",
            "Dots with intervals: the regret of three learners under three protocols on three populations.",
            lambda: dots(
                _titled(facts.regret).with_columns(group="learner", style="protocol"),
                x_label=f"regret after {N_PATIENTS} patients (rewards lost)",
                zero="always the better arm",
            ),
        ),
        ReportFigure(
            "propositions-expectations",
            f"What each protocol sees of the arms, both chosen equally often: mean reward credited over {N_DRAWN:,} "
            "simulated patients, with 95% intervals, and below it what the proof's formula gives. Chosen's is what "
            "counts, by which the treatment is the better arm on all three populations.",
            "Dots with intervals: the mean reward of control and treatment as each protocol sees it, simulated and "
            "by formula.",
            lambda: _expectations_chart(facts.expectations),
        ),
    ]


def _titled(table: polars.DataFrame) -> polars.DataFrame:
    """A table with capitalised protocols, as the rows of a chart with a panel for each population."""
    protocol = polars.col("protocol").str.to_titlecase()
    return table.with_columns(protocol, row=protocol, panel="population")


def _expectations_chart(expectations: polars.DataFrame) -> Figure:
    """Each arm twice, below each other: as simulated, and by the formula, which has no interval."""
    nothing = polars.lit(None, polars.Float64)
    simulated = _titled(expectations.filter(control_share=CONTROL_SHARES[0]))
    kinds = {"simulated": simulated, "by formula": simulated.with_columns(mean="formula", low=nothing, high=nothing)}
    parts = [
        rows.filter(arm=arm).with_columns(style=polars.lit(f"{arm}, {kind}"))
        for arm in ARMS
        for kind, rows in kinds.items()
    ]
    return dots(polars.concat(parts), x_label="mean reward credited to the arm", zero="")


def make_listings(facts: Facts) -> list[Listing]:
    """Who is in the populations, and every figure of both charts."""
    return [
        compliance_type_listing(row for one in facts.mixtures.values() for row in _types(one)),
        Listing(
            f"Regret after {N_PATIENTS} patients, and its difference, on the same patients, from that of the "
            "protocol that the proposition favours, with 95% intervals.",
            ("population", "learner", "protocol", "regret", "difference", "policy"),
            [
                [*(row[name] for name in ("population", "learner", "protocol")), *_regrets(row), row["policy"]]
                for row in _titled(facts.regret).to_dicts()
            ],
            folded=True,
        ),
        Listing(
            "The reward credited to each arm, in expectation: by the proof's formula, by the population itself, and "
            "as seen in simulated patients with 95% intervals; control is chosen with the probability q₀.",
            ("population", "q₀", "protocol", "arm", "formula", "population's", "seen"),
            [
                [
                    *(row["population"], f"{row['control_share']:.1f}", row["protocol"], row["arm"]),
                    *(f"{row[name]:.4f}" for name in ("formula", "expected")),
                    f"{row['mean']:.4f} [{row['low']:.4f}, {row['high']:.4f}]",
                ]
                for row in _titled(facts.expectations).to_dicts()
            ],
            folded=True,
        ),
    ]


def _types(one: Mapping[str, Any]) -> list[tuple[str, str, tuple[float | None, ...]]]:
    return [
        (one["name"], "never-taker", (one["p_n"], one["r_n0"], None)),
        (one["name"], "always-taker", (one["p_a"], None, one["r_a1"])),
        (one["name"], "complier", (one["p_c"], one["r_c0"], one["r_c1"])),
    ]


def _regrets(row: Mapping[str, Any]) -> list[str]:
    regret = estimate_texts([Estimate(row["mean"], None, row["low"], row["high"])])
    return regret + (
        ["reference"] if row["is_reference"] else estimate_texts([estimate_in_row(row, "difference")], "+")
    )
