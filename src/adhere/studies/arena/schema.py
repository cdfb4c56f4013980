"""The tables that the arena leaves, and of which its page is drawn: their columns and kinds.

>>> list(FRONTIER)[:3]
['policy', 'label', 'gain']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars

_TEXT, _WHOLE, _NUMBER = polars.String(), polars.Int64(), polars.Float64()
Schema = dict[str, Any]


def _with_interval(*names: str) -> Schema:
    return {name + end: _NUMBER for name in names for end in ("", "_low", "_high")}


# A row for each family, horizon and policy. Intervals are over populations; over runs where a family is a single one.
RESULTS: Schema = {
    "family": _TEXT,
    "n_arms": _WHOLE,
    "n_patients": _WHOLE,
    "policy": _TEXT,
    "label": _TEXT,
    "n_populations": _WHOLE,
    "n_runs": _WHOLE,  # on each population
    **_with_interval("share"),  # of the best possible surplus
    **_with_interval("difference"),  # of the share from Thompson's under Chosen, on the same patients
    "worst_5_percent": _NUMBER,  # of the difference: the mean in the worst 5% of populations
    "worst_5_percent_held_out": _NUMBER,  # the same, chosen in half of the runs and measured in the others
    "worst": _NUMBER,  # of the difference: the worst population
    "populations_worse_than_randomisation": _NUMBER,  # share of populations
    "populations_surely_worse_than_randomisation": _NUMBER,
    **_with_interval("regret_recommendation", "regret_treatment", "regret_compliers"),  # for each patient
    **_with_interval("surplus"),  # of a whole trial
    "fraction_of_optimum": _NUMBER,
    "growth_of_worst": _NUMBER,
    "ns_per_decision": _NUMBER,
}
# A row for each family, horizon, policy and number of patients so far (t): regret against the best recommendation.
CURVES: Schema = {
    "family": _TEXT,
    "n_patients": _WHOLE,
    "policy": _TEXT,
    "label": _TEXT,
    "t": _WHOLE,
    **_with_interval("regret"),
}
# A row for each policy and family where pooling misleads. Gain: the difference where unconfounded; loss: minus the
# difference in the other family, so that up and to the left is better.
FRONTIER: Schema = {
    "policy": _TEXT,
    "label": _TEXT,
    **_with_interval("gain", "loss"),
    "loss_worst_5_percent": _NUMBER,
    "loss_family": _TEXT,
    "n_patients": _WHOLE,
}
FAMILIES: Schema = {
    "family": _TEXT,
    "description": _TEXT,
    "drawn": _TEXT,
    "n_arms": _WHOLE,
    "n_populations": _WHOLE,
    "seed": _WHOLE,  # null of named populations
    "digest": _TEXT,  # of the populations; null of named ones
    "best_surplus": _NUMBER,  # for each patient, the mean over populations
}
# Policies that do not play in a cell, and why.
LEFT_OUT: Schema = {"family": _TEXT, "n_patients": _WHOLE, "policy": _TEXT, "label": _TEXT, "why": _TEXT}

SCHEMAS: dict[str, Schema] = {
    "results": RESULTS,
    "curves": CURVES,
    "frontier": FRONTIER,
    "families": FAMILIES,
    "left_out": LEFT_OUT,
}


def table(name: str, rows: Iterable[Mapping[str, Any]]) -> polars.DataFrame:
    """A table of rows, each with all columns of its schema."""
    schema = SCHEMAS[name]
    return polars.DataFrame([[row[column] for column in schema] for row in rows], schema=schema, orient="row")
