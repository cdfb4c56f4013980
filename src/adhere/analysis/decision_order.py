"""The rows of a table in the order in which arms were chosen: by record, recommendation or time, else as they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import numpy as np
import polars as pl

from adhere.analysis.records import Bools, Floats, Ints
from adhere.errors import InputError
from adhere.records.cells import Cells

_NUMBERS: Final = ("RECPOS", "RECOMMENDATION_ID")
_A_TIME: Final = "a number or a time, e.g. 2026-03-01T09:30:00Z: rows are put into the order of decision by it"


def decision_order(cells: Mapping[str, Cells], kept: Bools, matters: bool, warnings: list[str]) -> Ints:
    """The rows that are kept, in order; a time that cannot be read is an error where the order matters."""
    rows = np.flatnonzero(kept)
    name = next((name for name in (*_NUMBERS, "time") if name in cells), None)
    if name is None:
        return rows
    column = cells[name]
    if name in _NUMBERS:
        keys = column.numbers("a whole number", lambda values: values == np.floor(values))[rows]
    else:
        keys = _times(column.column)[rows]
    lacking = np.flatnonzero(np.isnan(keys))
    if len(lacking):
        row = int(rows[lacking[0]])
        error = InputError(column.where(row), column.value(row), _A_TIME if name == "time" else "a whole number")
        if matters or name in _NUMBERS:
            raise error
        warnings.append(f"{error}; rows stay in the order of the table")
        return rows
    return rows[np.argsort(keys, kind="stable")]


def _times(column: pl.Series) -> Floats:
    """Times as numbers, NaN where there is none."""
    if column.dtype.is_temporal():
        return column.to_physical().cast(pl.Float64).to_numpy()
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).to_numpy()
    if column.dtype != pl.String:
        return np.full(len(column), np.nan)
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.count():  # what is no number among numbers is a mistake
        return numbers.to_numpy()
    return np.array([_seconds(text) for text in column.to_list()], dtype=np.float64)


def _seconds(text: str | None) -> float:
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return np.nan
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
