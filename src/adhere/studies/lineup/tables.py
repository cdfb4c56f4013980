"""Tables of simulations of the line-up: the final figures, and the surplus along the trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars

from adhere.intervals import Z95
from adhere.simulation import Estimate, Outcome, SimulationResult
from adhere.simulation.results.surplus_plot import trajectory_rows
from adhere.studies.lineup.entries import Entry

MEASURES = ("surplus", "realised_surplus", "regret")


def final_table(result: SimulationResult, entries: Sequence[Entry]) -> polars.DataFrame:
    """One row for each population, policy and measure; `difference` is surplus minus the reference policy's."""
    by_policy = {entry.policy: entry for entry in entries}
    rows = []
    for outcome in result.outcomes:
        who = _who(outcome, by_policy[outcome.policy], result)
        rows += [{**who, "measure": name, **vars(getattr(outcome, name))} for name in MEASURES]
        rows.append({**who, "measure": "difference", **vars(outcome.difference())})
    return polars.DataFrame(rows, infer_schema_length=None)


def along_table(result: SimulationResult, entries: Sequence[Entry]) -> polars.DataFrame:
    """The surplus after t patients of some of the policies; before the first patient it is 0."""
    by_policy = {entry.policy: entry for entry in entries}
    rows: list[dict[str, Any]] = []
    for outcome in result.outcomes:
        if outcome.policy in by_policy:
            who = _who(outcome, by_policy[outcome.policy], result)
            rows += [{**who, **row} for row in trajectory_rows(outcome)]
    return polars.DataFrame(rows, infer_schema_length=None)


def _who(outcome: Outcome, entry: Entry, result: SimulationResult) -> dict[str, Any]:
    names = ("learner", "strategy", "variant", "gamma", "label", "policy")
    sizes = {name: getattr(result.config, name) for name in ("n_patients", "n_runs", "seed")}
    return {"population": outcome.population, **{name: getattr(entry, name) for name in names}, **sizes}


def estimate_in(table: polars.DataFrame, **where: Any) -> Estimate:
    """The one estimate a table has under the given values of its columns."""
    rows = table.filter(**where)
    assert rows.height == 1, f"{rows.height} rows for {where}"
    return Estimate(*rows.select("mean", "se", "low", "high").row(0))


def is_above(one: Estimate, other: Estimate) -> bool:
    """Whether one estimate lies above another by more than chance, at the 5% level, as if they were independent.

    Policies that share their patients and mostly their choices are closer than that; a paired difference says it
    better where there is one.

    >>> is_above(Estimate(3.0, 1.0, 1.04, 4.96), Estimate(0.0, 1.0, -1.96, 1.96))
    True
    """
    return one.mean - other.mean > Z95 * math.hypot(one.se or 0.0, other.se or 0.0)
