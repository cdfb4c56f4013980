"""Small tables of the arena's shape, whose numbers are easy to tell."""

from __future__ import annotations

from typing import Any

import polars

from adhere.studies.arena.tables import SCHEMAS, table

LABELS = {
    "thompson": "Thompson, Chosen",
    "thompson/actual": "Thompson, Actual",
    "hierarchical(epsilon-greedy)": "HierarchicalBandit on ε-greedy",
    "mediated-thompson": "MediatedThompson",
    "mediated-thompson(odds=1)": "MediatedThompson, odds 1",
}
# The difference from Thompson under Chosen, by family and policy.
DIFFERENCES = {
    "unconfounded": (0.0, 0.06, -0.04, 0.05, 0.08),
    "confounded": (0.0, -0.5, -0.2, 0.001, -0.03),
    "mildly-confounded": (0.0, -0.3, -0.05, 0.012, 0.009),
    "rich-and-poor": (0.0, -1.2, -0.3, -0.002, -0.01),  # a single population
}
_LARGE, _GRID = 200, (100, 1000, 10_000)


def arena_tables(longest: int = 100_000) -> dict[str, polars.DataFrame]:
    """Five policies on three families and a single population, at 2,000 patients and the `longest`."""
    results, curves, frontier = [], [], []
    for family, differences in DIFFERENCES.items():
        single = family == "rich-and-poor"
        for policy, difference in zip(LABELS, differences, strict=True):
            who = {"family": family, "policy": policy, "label": LABELS[policy]}
            for horizon in (2000,) if single else (2000, longest):
                results.append(_row(who, horizon, difference, single))
            for t in () if single else _GRID:
                regret = (1 - difference) * t**0.5 if difference > -0.3 else 0.1 * t
                curves.append({**who, "n_patients": longest, "t": t, **_ends("regret", regret, 0.1 * regret)})
            if family in ("confounded", "mildly-confounded"):
                gain = DIFFERENCES["unconfounded"][list(LABELS).index(policy)]
                points = {**_ends("gain", gain, 0.004), **_ends("loss", -difference, 0.004)}
                frontier.append(
                    {**who, **points, "loss_worst_5_percent": 0.1, "loss_family": family, "n_patients": 2000}
                )
    families = [
        {"family": family, "description": f"Who is {family}", "drawn": "rewards U(0, 1)", "n_arms": 2,
         "n_populations": _LARGE if family != "rich-and-poor" else 1, "seed": 14, "digest": "abc",
         "best_surplus": 0.1}
        for family in DIFFERENCES
    ]  # fmt: skip
    absent = [
        {"family": "unconfounded", "n_patients": 2000, "policy": "gittins", "label": "Gittins", "why": "too long"}
    ]
    rows = {"results": results, "curves": curves, "frontier": frontier, "families": families, "left_out": absent}
    return {name: table(name, rows[name]) for name in SCHEMAS}


def _row(who: dict[str, str], horizon: int, difference: float, single: bool) -> dict[str, Any]:
    linear = difference <= -0.3
    return {
        **dict.fromkeys(SCHEMAS["results"]),
        **who,
        "n_arms": 2,
        "n_patients": horizon,
        "n_populations": 1 if single else _LARGE,
        "n_runs": 50,
        **_ends("share", 0.9 + difference, 0.01),
        **_ends("difference", difference, 0.004 if difference else 0.0),
        **({} if single else {"worst_5_percent": difference - 0.1, "worst_5_percent_held_out": difference - 0.05,
                              "worst": difference - 0.2}),
        "populations_worse_than_randomisation": 0.4 if linear else 0.0,
        **_ends("regret_recommendation", 0.02 - 0.1 * difference, 0.001),
        **_ends("regret_treatment", 0.05 - 0.1 * difference, 0.001),
        "growth_of_worst": None if single or horizon == 2000 else 0.99 if linear else 0.5,
        "ns_per_decision": 40.0 + 10.0 * len(who["policy"]),
    }  # fmt: skip


def _ends(name: str, mean: float, half: float) -> dict[str, float]:
    return {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}
