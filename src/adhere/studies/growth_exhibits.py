"""The figures and the table of the study of regret growth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adhere.report.growth import Guide, exponent_chart, growth_curves
from adhere.report.numbers import estimate_texts
from adhere.report.section import Drawing, Listing
from adhere.simulation import Estimate
from adhere.studies.growth_tables import PROMISES
from adhere.studies.slopes import LOGARITHMIC, TOLERANCE

if TYPE_CHECKING:
    import polars

_REGRET = "regret (rewards lost)"
_FITTED = {"early": "T from 10² to 10⁴", "late": "T from 10⁴ to 10⁶"}
_KNOWN = {"√T": 0.5, "T": 1.0}
_HEADER = {
    "population": "population",
    "policy": "policy",
    "promise": "promised",
    "early": "exponent 10²–10⁴",
    "late": "exponent 10⁴–10⁶",
    "decade_before_last": "cost 10⁴–10⁵",
    "last_decade": "cost 10⁵–10⁶",
    "order": "grows like",
    "shows": "shows",
}


def drawings(regret: polars.DataFrame, growth: polars.DataFrame, gaps: Mapping[str, float]) -> list[Drawing]:
    """Regret against T on two logarithmic axes and on one, and the exponents; `gaps` by population."""
    slow = [policy for policy, promise in PROMISES.items() if promise == LOGARITHMIC]
    by = {"panels": "population", "series": "policy", "y_label": _REGRET}
    steep = [Guide("T", 1.0, 1.6 * gap, name) for name, gap in gaps.items()]
    return [
        Drawing(
            "regret-growth",
            "Mean regret of trials of T patients, each T run anew, with 95% intervals; both axes are logarithmic, so "
            "a power of T is a straight line. Grey: the slopes of T and √T.",
            "Lines by policy on two populations: regret against T from a hundred to a million patients.",
            lambda: growth_curves(regret, scale="log", guides=[*steep, Guide("√T", 0.5, 1.0)], **by),
        ),
        Drawing(
            "regret-growth-logarithmic",
            "The policies that are promised logarithmic regret, with 95% intervals; only the axis of T is "
            "logarithmic, so a + b log T is a straight line. Grey: a curve of √T, for comparison.",
            "Lines by policy: regret against T from a hundred to a million patients.",
            lambda: growth_curves(
                regret.filter(regret["policy"].is_in(slow)), scale="linear", guides=[Guide("√T", 0.5, 0.4)], **by
            ),
        ),
        Drawing(
            "regret-growth-exponents",
            "The power of T that regret grows with, fitted to the shorter and to the longer trials, with 95% "
            f"intervals. Grey bands: the exponents of √T and T, ± {TOLERANCE}.",
            "Dots with intervals: the exponent of each policy on two populations, over shorter and longer trials.",
            lambda: exponent_chart(growth, _FITTED, _KNOWN, TOLERANCE),
        ),
    ]


def listings(growth: polars.DataFrame) -> list[Listing]:
    """A line for each policy on each population."""
    return [
        Listing(
            "How regret grows, with 95% intervals: the exponent of T over the shorter and the longer trials, what "
            "each of the last two decades of T costs, what that looks like, and whether the paper's promise shows.",
            tuple(_HEADER.values()),
            [[_cell(row, name) for name in _HEADER] for row in growth.to_dicts()],
            folded=True,
        )
    ]


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, float):
        return estimate_texts([Estimate(value, None, row[f"{name}_lo"], row[f"{name}_hi"])])[0]
    return {"": "nothing", None: "–", True: "yes", False: "no"}.get(value, str(value))
