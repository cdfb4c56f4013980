"""Conversion of an evaluation to a data frame and to plain data."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any

import msgspec
import polars

from adhere.design.design import Design
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.characteristics.quantities import MEANINGS
from adhere.evaluation.outcomes import Floats
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.intervals import Estimate
from adhere.simulation.results.outcome import Trajectory

_TEXTS = ("scenario", "design", "name", "arm", "estimand", "method", "reason")
_NUMBERS = ("mean", "se", "low", "high")
_DIFFERENCES = ("difference", "difference_se", "difference_low", "difference_high")
_OF_SCENARIOS = ("name", "null", "baseline", "effect", "compliance", "confounding", "average_null")


def as_polars(results: Sequence[Characteristics]) -> polars.DataFrame:
    """Return a data frame with a row for each characteristic of each result."""
    rows = [
        {"scenario": found.scenario.name, "design": found.design.name, **row}
        for found in results
        for row in _rows(found)
    ]
    order = (*_TEXTS[:-1], *_NUMBERS, "reason", *_DIFFERENCES)
    kinds = {name: polars.String if name in _TEXTS else polars.Float64 for name in order}
    return polars.DataFrame(rows, kinds)


def as_json(
    designs: Sequence[Design], scenarios: Sequence[Scenario], results: Sequence[Characteristics]
) -> dict[str, Any]:
    """Return designs, scenarios with their truth, and all characteristics, including those over time."""
    first = results[:: len(designs)]
    return {
        "designs": [{**msgspec.to_builtins(design), "design_digest": design.digest} for design in designs],
        "scenarios": [_scenario(one, found) for one, found in zip(scenarios, first, strict=True)],
        "meanings": dict(MEANINGS),
        "results": [_result(found) for found in results],
    }


def _rows(found: Characteristics) -> Iterator[dict[str, Any]]:
    for one in found.table:
        difference = None
        if found.differences and one.method is None:
            difference = found.difference(one.name, one.arm).estimate
        texts = {name: getattr(one, name) for name in ("name", "arm", "estimand", "method")}
        numbers = {**_numbers(one.estimate, _NUMBERS), **_numbers(difference, _DIFFERENCES)}
        yield {**texts, **numbers, "reason": one.reason or None}


def _numbers(one: Estimate | None, names: Sequence[str]) -> dict[str, float | None]:
    return dict.fromkeys(names) if one is None else dict(zip(names, astuple(one), strict=True))


def _scenario(scenario: Scenario, found: Characteristics) -> dict[str, Any]:
    truth = found.truth
    return {
        **{name: getattr(scenario, name) for name in _OF_SCENARIOS},
        "mean_given_chosen": truth.means.tolist(),
        "mean_if_taken": _known(truth.if_taken),
        "complier_effect": _known(truth.complier_effects),
    }


def _known(values: Floats) -> list[float | None]:
    """Return numbers for JSON, with None for NaN."""
    return [None if value != value else value for value in values.tolist()]


def _result(found: Characteristics) -> dict[str, Any]:
    return {
        "scenario": found.scenario.name,
        "design": found.design.name,
        "characteristics": [_without_nothing(row) for row in _rows(found)],
        "allocation_over_time": {arm: _along(found.over_time(arm)) for arm in found.design.arms},
        "status_by_look": {status: _along(along) for status, along in found.by_look().items()},
    }


def _without_nothing(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None or name == "mean"}


def _along(along: Trajectory) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in vars(along).items()}
