"""Results of simulations as data frames."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import polars

from adhere.intervals import Estimate
from adhere.simulation.measures.measure import MEASURES, SHARES
from adhere.simulation.results.outcome import Outcome


def along_trial(outcomes: Sequence[Outcome]) -> polars.DataFrame:
    """Return every measure along the grid as a long table: population, policy, measure, t, mean, se, low, high."""
    frames = []
    for one, difference, measure in product(outcomes, (False, True), MEASURES):
        name = f"{measure}_difference" if difference else measure
        columns = {"population": one.population, "policy": one.policy, "measure": name}
        along = vars(one.trajectory(measure, difference))
        frames.append(polars.DataFrame({**columns, **along}, nan_to_null=True))
    return polars.concat(frames)


def final_figures(outcomes: Sequence[Outcome]) -> polars.DataFrame:
    """Return a row for each outcome: measures, surplus difference, shares of runs, quantiles, best arm,
    allocation.
    """
    rows = []
    for one in outcomes:
        row: dict[str, object] = {"population": one.population, "policy": one.policy}
        for name in MEASURES:
            row |= _columns(name, getattr(one, name))
        row |= _columns("surplus_difference", one.difference())
        for name in SHARES:
            row |= _columns(name, getattr(one, name))
        row |= one.quantiles() | {"best_arm": one.best_arm, "best_arm_surplus": one.best_arm_surplus}
        rows.append(row | {f"allocation_{arm}": share.mean for arm, share in one.allocation.items()})
    schema = dict.fromkeys((name for row in rows for name in row), polars.Float64)
    return polars.DataFrame(rows, schema | dict.fromkeys(("population", "policy", "best_arm"), polars.String))


def _columns(name: str, one: Estimate) -> dict[str, float | None]:
    return {name: one.mean, f"{name}_se": one.se, f"{name}_low": one.low, f"{name}_high": one.high}


def labelled(
    names: Sequence[str], labels: Sequence[tuple[str, ...]], columns: Sequence[Mapping[str, Any] | Sequence[Any]]
) -> polars.DataFrame:
    """Return a frame of several tables below each other, with labels in the first columns; columns may differ."""
    kinds = [polars.Enum(list(dict.fromkeys(own))) for own in zip(*labels, strict=True)]
    frames = []
    for own, table in zip(labels, columns, strict=True):
        first = [polars.lit(label, kind).alias(name) for name, label, kind in zip(names, own, kinds, strict=True)]
        frames.append(polars.DataFrame(table).select(*first, polars.all()))
    return polars.concat(frames, how="diagonal")
