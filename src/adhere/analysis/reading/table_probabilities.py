"""The probabilities with which a table says that arms were drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from adhere.analysis.reading.record_warnings import PROBABILITIES_NEEDED, missing_probabilities
from adhere.analysis.reading.table_arms import TableArms
from adhere.analysis.records import Bools, Floats
from adhere.errors import InputError
from adhere.records.cells import Cells
from adhere.records.table import Table

_A_PROBABILITY: Final = "a probability, a number from 0 to 1"
_ABOVE_0: Final = "a probability above 0, since this arm was chosen"
_BELOW_1: Final = "a probability below 1, since the other arm was chosen"
_TOLERANCE: Final = 1e-6


def table_probabilities(
    table: Table,
    found: Mapping[str, str],
    series: Mapping[str, pl.Series],
    arms: TableArms,
    kept: Bools,
    warnings: list[str],
) -> Floats | None:
    """The probability of every arm in every row, NaN where it is not known; None if no row has one.

    `found` are the titles of columns by what they hold: "propensity", or "probability of …" for each arm.
    """
    columns = {what: title for what, title in found.items() if what.startswith(("propensity", "probability of "))}
    if not columns:
        return None
    if "count" in found:
        where = f"{table.source}, column {found['count']}"
        expected = "a row for each patient where there are probabilities: counts do not say in which order"
        raise InputError(where, "a count of patients", expected)
    cells = [Cells(table, title, series[title]) for title in columns.values()]
    values = np.stack([one.numbers(_A_PROBABILITY, _is_probability) for one in cells], axis=1)
    known = ~np.isnan(values).any(axis=1) & kept
    if "propensity" in columns:
        _check_drawn(cells[0], values[:, 0], known)
        if len(arms.names) > 2:
            title = cells[0].title
            warnings.append(f"column {title} has the probability of the arm chosen alone: {PROBABILITIES_NEEDED}")
            # Known probabilities still show whether the allocation adapted.
            own = arms.chosen[:, None] == np.arange(len(arms.names))
            return np.where(own & known[:, None], values, np.nan) if known.any() else None
        values = np.where(arms.chosen[:, None] == np.arange(2), values, 1.0 - values)
    else:
        if len(cells) == 1:
            drawn = arms.names.index(next(iter(arms.probabilities)))
            values = np.where(np.arange(2) == drawn, values, 1.0 - values)
            cells *= 2  # the same column says both
        _check_sums(table, cells, values, known)
        for number, (arm, one) in enumerate(zip(arms.names, cells, strict=True)):
            expected = _ABOVE_0 if arm in arms.probabilities else _BELOW_1
            _check_drawn(one, values[:, number], known & (arms.chosen == number), expected)
    lacking = np.flatnonzero(kept & ~known)
    if not known.any():
        return None if len(lacking) else values
    if len(lacking):
        warnings.append(missing_probabilities(len(lacking), table.place(int(lacking[0]))))
    return np.where(known[:, None], values, np.nan)


def _is_probability(values: Floats) -> Bools:
    return (values >= 0.0) & (values <= 1.0)


def _check_drawn(cells: Cells, values: Floats, rows: Bools, expected: str = _ABOVE_0) -> None:
    wrong = np.flatnonzero(rows & (values == 0.0))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(cells.where(row), cells.value(row), expected)


def _check_sums(table: Table, cells: list[Cells], values: Floats, known: Bools) -> None:
    wrong = np.flatnonzero(known & (np.abs(values.sum(axis=1) - 1.0) > _TOLERANCE))
    if len(wrong):
        row = int(wrong[0])
        where = f"{table.source}, {table.place(row)}, columns {', '.join(one.title for one in cells)}"
        total = values[row].sum()
        raise InputError(where, values[row].tolist(), f"probabilities that sum to one, not to {total:.10g}")
