"""The form of a simulation: the grid of scenarios, typed or from a design's file, and the number of trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adhere.service.pages.forms.form_reader import FormReader

N_TRIALS: Final = 1000
SCENARIOS: Final = {
    "scenarios.baseline": "0.5",
    "scenarios.effect": "0.1, 0.2",
    "scenarios.compliance": "1, 0.7",
    "scenarios.confounding": "0.2",
    "n_trials": str(N_TRIALS),
}
LOWERING: Final = {"scenarios.effect": "-0.1, -0.2"}  # if lower outcomes are better
_USUAL: Final[Mapping[str, Any]] = {"baseline": 0.5, "effect": [], "compliance": 1, "confounding": 0}


def simulation_fields(reader: FormReader) -> dict[str, Any]:
    """The grid of scenarios and the number of trials that were typed."""
    n_trials = reader.number("n_trials", "whole")
    grid = {
        "baseline": reader.numbers("scenarios.baseline", "share"),
        "effect": reader.numbers("scenarios.effect", "share", -1.0),
        "compliance": reader.numbers("scenarios.compliance", "share"),
        "confounding": reader.numbers("scenarios.confounding", "share", -1.0),
    }
    given = {name: value for name, value in grid.items() if value not in (None, [])}
    return {"scenarios": given, "n_trials": N_TRIALS if n_trials is None else n_trials}


def scenario_fields(table: object) -> dict[str, str] | None:
    """A grid of scenarios from a file, as it is typed; None if it cannot be typed, such as effects by arm.

    >>> scenario_fields({"effect": [0.1, 0.2], "compliance": 0.7})
    {'scenarios.baseline': '0.5', 'scenarios.effect': '0.1, 0.2', 'scenarios.compliance': '0.7', \
'scenarios.confounding': '0'}
    >>> scenario_fields({"effect": [{"aspirin": 0.1}]})
    """
    if not isinstance(table, Mapping) or set(table) - set(_USUAL):
        return None
    typed = {}
    for name, value in {**_USUAL, **table}.items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in values):
            return None
        typed[f"scenarios.{name}"] = ", ".join(f"{one:.15g}" for one in values)
    return typed
