"""The rows of a table in the order in which arms were chosen: by record, recommendation or time, else as they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from adhere.analysis.reading.record_warnings import NO_ORDER
from adhere.analysis.records import Bools, Floats, Ints, Records
from adhere.errors import InputError
from adhere.records.cells import Cells

_NUMBERS: Final = ("RECPOS", "RECOMMENDATION_ID")
_OF_ROWS: Final = "that of the rows"
_A_TIME: Final = "a number or a time, e.g. 2026-03-01T09:30:00Z: rows are put into the order of decision by it"


class DecisionOrder(NamedTuple):
    """The rows that are kept, in order, and where that comes from: by which column, and in words.

    `batch` numbers the times, where some rows have the same.
    """

    rows: Ints
    batch: Ints | None
    by: str | None
    says: str


def decision_order(
    cells: Mapping[str, Cells], kept: Bools, matters: bool, warnings: list[str], *, by_time: bool = False
) -> DecisionOrder:
    """The rows in the order of decision; a time that cannot be read is an error where the order matters.

    With `by_time` the time was asked for, and goes before numbers of records and recommendations.
    """
    rows = np.flatnonzero(kept)
    names = ("time", *_NUMBERS) if by_time else (*_NUMBERS, "time")
    name = next((name for name in names if name in cells and not _is_text(name, cells[name])), None)
    if name is None:
        if matters:
            warnings.append(NO_ORDER)
        return DecisionOrder(rows, None, None, _OF_ROWS)
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
        return DecisionOrder(rows, None, None, _OF_ROWS)
    order = np.argsort(keys, kind="stable")
    batch = np.cumsum(np.diff(keys[order], prepend=keys[order[:1]]) > 0.0, dtype=np.int64)
    n_tied = int(np.sum(np.bincount(batch)[batch] > 1))
    if not n_tied:
        return DecisionOrder(rows[order], None, name, column.title)
    return DecisionOrder(rows[order], batch if matters else None, name, f"{column.title} ({n_tied:,} rows tied)")


def _is_text(name: str, cells: Cells) -> bool:
    """Whether recommendations have names, such as UUIDs, which are in no order."""
    column = cells.column
    is_named = name == "RECOMMENDATION_ID" and column.dtype == pl.String
    return is_named and not column.cast(pl.Float64, strict=False).count()


def sorted_ties(records: Records) -> Records:
    """The entries of each batch by their values, so that the order of the rows does not matter, nor to the digest."""
    if records.batch is None or records.probabilities is None:
        return records
    flags = (records.estimated, records.lost, records.imputed_actual, records.imputed_reward)
    keys = [records.batch, records.chosen, records.actual, records.reward, *records.probabilities.T, records.stratum]
    return records.where(np.lexsort([one for one in (*keys, *flags) if one is not None][::-1]))


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
