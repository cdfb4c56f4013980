"""The page's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars

from adhere.report.section import Listing
from adhere.studies.coverage.facts import Facts
from adhere.studies.coverage.judgements import SYMBOLS
from adhere.studies.coverage.tables import FIXED_DESIGN

_HEADER = (
    "view",
    "quantity",
    "method",
    "truth",
    "covers",
    "Monte Carlo interval",
    "median width",
    "unbounded",
    "verdict",
)


def populations_listing(facts: Facts) -> Listing:
    """What is true of each population."""
    rows = [
        [
            one["design"], one["population"], one["words"], _number(one["intention_to_treat"]),
            _number(one["compliers_effect"]), _number(one["average_effect"]), f"{one['share_of_compliers']:.0%}",
        ]
        for one in facts.populations.to_dicts()
    ]  # fmt: skip
    header = (
        "design",
        "population",
        "in words",
        "intention-to-treat",
        "among compliers",
        "average effect",
        "compliers",
    )
    return Listing("The populations, and the effects that are true of them.", header, rows)


def all_listings(facts: Facts) -> list[Listing]:
    """Every interval, a table for each cell."""
    found = []
    for (design, population, policy, patients), rows in facts.intervals.group_by(
        "design", "population", "policy", "n_patients", maintain_order=True
    ):
        named = f"{patients // 2} an arm" if design == FIXED_DESIGN else f"{policy}, {patients} patients"
        trials = f"{max(rows['n_trials'].to_list()):,} trials"
        caption = f"{str(design).capitalize()}, {population}, {named}, {trials}: every interval."
        found.append(Listing(caption, _HEADER, [_row(one) for one in rows.to_dicts()], folded=True))
    return found


def adaptive_listing(facts: Facts) -> Listing:
    """Confidence sequences: how often they ever missed, and how wide they were at the end."""
    rows = [
        [
            one["population"], one["policy"], one["view"],
            _share(None if one["coverage"] is None else 1 - one["coverage"]), _number(one["median_width"]),
            _share(one["empty"]), _mark(one["verdict"]),
        ]
        for one in facts.sequences.to_dicts()
    ]  # fmt: skip
    header = ("population", "policy", "view", "ever misses", "median width", "empty", "verdict")
    return Listing("Confidence sequences at the end of the trial.", header, rows)


def tests_listings(facts: Facts) -> list[Listing]:
    """How often tests rejected, hypotheses that are true first."""
    found = []
    for true, caption in (
        (True, "False alarms: the hypothesis is true."),
        (False, "Power: the hypothesis is false."),
    ):
        rows = [
            [
                one["design"], one["population"], one["policy"] or f"{one['n_patients'] // 2} an arm", one["test"],
                _share(one["rate"]), _interval(one["rate_low"], one["rate_high"]), _mark(one["verdict"]),
            ]
            for one in facts.tests.filter(polars.col("true") == true, polars.col("n_trials") > 0).to_dicts()
        ]  # fmt: skip
        header = ("design", "population", "policy or size", "test", "rejects in", "Monte Carlo interval", "verdict")
        if rows:
            found.append(Listing(caption, header, rows, folded=True))
    return found


def weak_listing(facts: Facts) -> Listing:
    """Every interval for the effect on compliers where few comply."""
    rows = [[one["population"], f"{one['n_patients'] // 2}", *_row(one)[2:]] for one in facts.weak.to_dicts()]
    header = ("population", "an arm", *_HEADER[2:])
    return Listing("The effect on compliers, where 3% are compliers.", header, rows)


def _row(one: dict[str, Any]) -> Sequence[str]:
    covers = _share(one["coverage"]), _interval(one["coverage_low"], one["coverage_high"])
    return [
        one["view"], one["quantity"], one["method"], _number(one["truth"]), *covers, _width(one),
        _share(one["unbounded"]), _mark(one["verdict"]),
    ]  # fmt: skip


def _width(one: dict[str, Any]) -> str:
    return "∞" if one["median_width"] is None and one["coverage"] is not None else _number(one["median_width"])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{low:.1%}, {high:.1%}]"


def _mark(verdict: str) -> str:
    return f"{SYMBOLS[verdict]} {verdict}" if verdict else "not judged"
