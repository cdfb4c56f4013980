"""The figures and listings of the study of regret growth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars

from adhere.report.dot_rows import Reference
from adhere.report.dots import dots
from adhere.report.growth_curves import Guide, growth_curves
from adhere.report.headline_chart import headline_growth
from adhere.report.numbers import estimate_in_row, estimate_texts
from adhere.report.section import Listing, ReportFigure
from adhere.studies.framework.words import compliance_type_listing
from adhere.studies.regret_growth.experiments import (
    CONFOUNDED,
    DEFIERS,
    FAST,
    NAIVE,
    NAMES,
    PROVEN,
    ROOT_HYBRID,
    SLOW,
)
from adhere.studies.regret_growth.slopes import TOLERANCE
from adhere.studies.regret_growth.tables import Facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FITTED = {"early": "T from 10² to 10⁴", "late": "T from 10⁴ to 10⁶"}
_KNOWN = {"√T": 0.5, "T": 1.0}
_NAMED = {"name": "learner and strategy", "population": "population"}
_EXPONENTS = {
    **_NAMED,
    "promise": "promised",
    "early": "exponent 10²–10⁴",
    "late": "exponent 10⁴–10⁶",
    "order": "grows like",
    "shows": "shows",
    "policy": "policy",
}
_COSTS = {
    **_NAMED,
    "decade_before_last": "cost 10⁴–10⁵",
    "last_decade": "cost 10⁵–10⁶",
    "bend": "difference of the two",
}


def make_figures(facts: Facts) -> list[ReportFigure]:
    """Regret against T on two logarithmic axes and on one, and the exponents."""
    regret, growth = _named(facts.regret), _named(facts.growth)
    steep = [Guide("T", 1.0, 1.6 * facts.gaps[name], name) for name in (CONFOUNDED.name, DEFIERS.name)]
    return [
        ReportFigure(
            "regret-growth",
            "Mean regret of trials of T patients, each T run anew, with 95% intervals (mostly hidden by the marks); "
            "both axes are logarithmic, so a power of T is a straight line. Grey: the slopes of T and √T. "
            "Policies that are promised logarithmic regret are in the next figure.",
            "Lines by policy on two populations: regret against T from a hundred to a million patients.",
            lambda: growth_curves(
                regret.filter(regret["policy"].is_in(FAST)), "log", [*steep, Guide("√T", 0.5, 1.0)]
            ),
        ),
        ReportFigure(
            "regret-growth-logarithmic",
            "The policies that are promised logarithmic regret, with 95% intervals; only the axis of T is "
            "logarithmic, so a + b log T is a straight line. Grey: a curve of √T, for comparison.",
            "Lines by policy: regret against T from a hundred to a million patients.",
            lambda: growth_curves(regret.filter(regret["policy"].is_in(SLOW)), "linear", [Guide("√T", 0.5, 0.4)]),
        ),
        ReportFigure(
            "regret-growth-exponents",
            "The power of T that regret grows with, fitted to the shorter and to the longer trials, with 95% "
            f"intervals. Grey bands: the exponents of √T and T, ± {TOLERANCE}.",
            "Dots with intervals: the exponent of each policy on two populations, over shorter and longer trials.",
            lambda: _exponent_chart(growth),
        ),
    ]


def _exponent_chart(growth: polars.DataFrame) -> Figure:
    """Exponents by population and policy: a panel for each stretch of T, with bands around well-known exponents."""
    stretches = [
        growth.select(
            row="name", group="population", panel=polars.lit(title), mean=name, low=f"{name}_low", high=f"{name}_high"
        )
        for name, title in _FITTED.items()
    ]
    bands = [
        Reference(f"{label} ({at:g} ± {TOLERANCE:g})", panel, at - TOLERANCE, at + TOLERANCE, at)
        for label, at in _KNOWN.items()
        for panel in _FITTED.values()
    ]
    return dots(polars.concat(stretches), x_label="exponent of T", references=bands, zero="regret does not grow")


def _named(table: polars.DataFrame) -> polars.DataFrame:
    return table.with_columns(name=polars.col("policy").replace_strict(NAMES, return_dtype=polars.String))


def headline(facts: Facts) -> ReportFigure:
    """Regret with and without a guarantee, for the top of the report."""
    shown = {NAIVE: NAMES[NAIVE], ROOT_HYBRID: NAMES[ROOT_HYBRID], PROVEN: "ThompsonBounded"}
    table = facts.regret.filter(population=CONFOUNDED.name).with_columns(name="policy")
    longest = table.filter(n_patients=max(table["n_patients"].to_list()))
    means = [longest.filter(policy=policy)["mean"][0] for policy in shown]
    return ReportFigure(
        "headline-regret",
        "Where compliance misleads, regret stays low with a guarantee and grows with the trial without one."
        if means[0] > max(means[1:])
        else "Where compliance misleads, the guarantees do not show in this run.",
        "Lines: regret against the number of patients for Thompson sampling under Actual and for both hybrids.",
        lambda: headline_growth("Regret in longer trials", table, {one: one == NAIVE for one in shown}, shown),
    )


def make_listings(facts: Facts) -> list[Listing]:
    """How regret grows for each policy on each population, and who is in the populations."""
    rows = _named(facts.growth).to_dicts()
    fewest = min(row["runs_of_longest"] for row in rows)
    return [
        Listing(
            "How regret grows, with 95% intervals: the exponent of T (the least-squares slope of log regret against "
            "log T) over the shorter and the longer trials. It grows like log T where the exponent is below 0.5 and "
            "the last decade of T does not cost more than the one before, beyond chance; like √T up to "
            f"{0.5 + TOLERANCE:.2f}; like T above {1 - TOLERANCE:.2f}. A promise shows in so many runs of the "
            f"longest trials, {fewest} of the least-run policy: so few cannot see a failure of one in a hundred.",
            tuple(_EXPONENTS.values()),
            [[_cell(row, name) for name in _EXPONENTS] for row in rows],
            folded=True,
        ),
        Listing(
            "What each of the last two decades of T costs in rewards, with 95% intervals: the same where regret is "
            "of order log T.",
            tuple(_COSTS.values()),
            [[_cell(row, name) for name in _COSTS] for row in rows],
            folded=True,
        ),
        compliance_type_listing((row[0], row[1], row[2:]) for row in facts.populations.rows()),
    ]


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, float):
        return estimate_texts([estimate_in_row(row, name)])[0]
    if name == "shows" and value is not None:
        return f"{'yes' if value else 'no'}, in {row['runs_of_longest']} runs"
    return {"": "nothing", None: "–"}.get(value, str(value))
