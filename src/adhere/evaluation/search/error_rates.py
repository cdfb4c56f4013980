"""Error rates of a design in given scenarios, without other characteristics, for speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from adhere.design.checks import check
from adhere.design.design import Design
from adhere.evaluation.evaluate import evaluate
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.evaluation.search.confirmed_number import Tried
from adhere.intervals import Estimate
from adhere.report.text_table import text_table

if TYPE_CHECKING:
    import polars

AT_MOST, AT_LEAST, INTERVAL = "at most", "at least", "95% interval"
_SHOWN = {AT_MOST: "{0.high:.4f}", AT_LEAST: "{0.low:.4f}", INTERVAL: "[{0.low:.4f}, {0.high:.4f}]"}
# Type I: a claim of a difference if there is none. Type II: no claim in the right direction if there is one.
ErrorOf: TypeAlias = Literal["type I", "type II"]


def error_rates(
    design: Design, scenarios: Sequence[Scenario], of: ErrorOf, n_trials: int, seed: int, **machines: Any
) -> tuple[float, ...]:
    """Simulate a design, and return its error rate (of claims about any arm) in each scenario."""
    check(design)
    lean = msgspec.structs.replace(design, estimands=())  # estimates take most of the time
    evaluation = evaluate(lean, scenarios, n_trials, seed, **machines)
    name = "false_claim" if of == "type I" else "right_claim"
    rates = [float(one.moments.mean[one.columns.where(name, one.columns.n_arms)]) for one in evaluation.results]
    return tuple(rates if of == "type I" else [1.0 - rate for rate in rates])


def rate_table(heading: str, bound: str, scenarios: Sequence[Scenario], rates: Sequence[Estimate], width: int) -> str:
    """Return a table of each scenario's rate with its upper limit, its lower limit or its interval (`bound`)."""
    shown = _SHOWN[bound]
    rows = [(one.name, f"{rate.mean:.4f}", shown.format(rate)) for one, rate in zip(scenarios, rates, strict=True)]
    return text_table([("scenario", heading, bound), *rows], width, "lr")


def rate_rows(scenarios: Sequence[Scenario], tried: Sequence[Tried], number: str, rate: str) -> polars.DataFrame:
    """Return a data frame with a row for each value tried and each scenario."""
    import polars

    rows = [
        {"scenario": scenario.name, number: one.number, "n_trials": one.n_trials, "seed": one.seed, rate: error}
        for one in tried
        for scenario, error in zip(scenarios, one.errors, strict=True)
    ]
    return polars.DataFrame(rows, schema_overrides={"seed": polars.UInt64})
