"""Order of decision and repeated subjects in a table, with warnings."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from adhere.analysis.records import Bools, Floats, Ints, Records, repeated_subjects
from adhere.analysis.sentences import say
from adhere.csv_cells import is_missing
from adhere.errors import InputError, listed
from adhere.records.cells import Cells
from adhere.records.table import Table


def missing_places(lacking: Sequence[str]) -> str:
    """Return the warning for missing columns of log positions."""
    known = "every outcome is taken as known before the next decision"
    if len(lacking) == 1:
        return f"column {lacking[0]} is missing: without it {known}"
    return f"columns {', '.join(lacking)} are missing: without them {known}"


def unused_probabilities(titles: Sequence[str], arms: Sequence[str]) -> str:
    """Return the warning for columns that are named like probabilities but belong to no arm."""
    some = f"columns {listed(titles)} end" if len(titles) > 1 else f"column {titles[0]} ends"
    return f"{some} with the name of no arm ({listed(arms)}): not read as probabilities"


_NUMBERS: Final = ("RECPOS", "RECOMMENDATION_ID")
_OF_ROWS: Final = "that of the rows"
_A_TIME: Final = "a number or a time, e.g. 2026-03-01T09:30:00Z: rows are put into the order of decision by it"


class DecisionOrder(NamedTuple):
    """Rows that are used, in order, with the column that decides the order and a description of the order.

    `batch` numbers the times if some rows have the same time.
    """

    rows: Ints
    batch: Ints | None
    by: str | None
    says: str


def decision_order(
    cells: Mapping[str, Cells], kept: Bools, matters: bool, warnings: list[str], *, by_time: bool = False
) -> DecisionOrder:
    """Return the rows in the order of decision. An unreadable time is an error if the order matters.

    With `by_time`, the user named the column of the time, and it takes precedence over numbers of records and
    recommendations.
    """
    rows = np.flatnonzero(kept)
    names = ("time", *_NUMBERS) if by_time else (*_NUMBERS, "time")
    name = next((name for name in names if name in cells and not _is_text(name, cells[name])), None)
    if name is None:
        if matters:
            warnings.append(say("no_order"))
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
    """Return whether recommendation IDs are text without an order, such as UUIDs."""
    column = cells.column
    is_named = name == "RECOMMENDATION_ID" and column.dtype == pl.String
    return is_named and not column.cast(pl.Float64, strict=False).count()


def sorted_ties(records: Records) -> Records:
    """Sort the entries of each batch by their values, so that results and digest do not depend on row order."""
    if records.batch is None or records.probabilities is None:
        return records
    flags = (records.estimated, records.lost, records.imputed_actual, records.imputed_reward)
    keys = [records.batch, records.chosen, records.actual, records.reward, *records.probabilities.T, records.stratum]
    return records.where(np.lexsort([one for one in (*keys, *flags) if one is not None][::-1]))


def _times(column: pl.Series) -> Floats:
    """Return times as numbers, NaN if missing."""
    if column.dtype.is_temporal():
        return column.to_physical().cast(pl.Float64).to_numpy()
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).to_numpy()
    if column.dtype != pl.String:
        return np.full(len(column), np.nan)
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.count():  # text among numbers is a mistake
        return numbers.to_numpy()
    return np.array([_seconds(text) for text in column.to_list()], dtype=np.float64)


def _seconds(text: str | None) -> float:
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return np.nan
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


_ORDERED = ("RECOMMENDATION_ID", "RECPOS", "time")


def check_subjects(table: Table, cells: Mapping[str, Cells], kept: Bools, warnings: list[str]) -> None:
    """Refuse duplicate rows, and warn of subjects with several rows.

    A recommendation can occur only once. A subject may occur several times. But if rows have neither a recommendation
    nor a time, two equal rows of a subject are treated as an entry error.
    """
    rows = np.flatnonzero(kept)
    ids = cells.get("RECOMMENDATION_ID")
    if ids is not None and ids.column.dtype != pl.Object:
        twice = _first_twice(ids.column.gather(rows).to_frame())
        if twice is not None:
            _refuse(table, ids, rows[list(twice)], "{} is there twice, in {} and {}", "each recommendation once")
    subjects = cells.get("subject")
    if subjects is None or subjects.column.dtype == pl.Object:
        return
    names = subjects.column.gather(rows)
    if names.drop_nulls().n_unique() == names.count():
        return
    if names.dtype == pl.String:
        words = [word for word in names.drop_nulls().unique().to_list() if is_missing(word)]
        rows, names = rows[~names.is_in(words).fill_null(True).to_numpy()], names.filter(~names.is_in(words))
    n_subjects, n_rows = names.drop_nulls().n_unique(), names.count()
    if n_subjects == n_rows:
        return
    if not any(name in cells for name in _ORDERED):
        alike = [cells[name].column for name in ("subject", "chosen", "actual", "reward", "stratum") if name in cells]
        if all(column.dtype != pl.Object for column in alike):
            whole = pl.DataFrame([column.rename(str(place)) for place, column in enumerate(alike)])[rows]
            twice = _first_twice(whole.with_row_index("row").filter(pl.col("0").is_not_null()))
            if twice is not None:
                expected = "each subject once, or a column of times that tells its rows apart"
                _refuse(table, subjects, rows[list(twice)], "the rows of {} in {} and {} say the same", expected)
    several = int((names.drop_nulls().value_counts()["count"] > 1).sum())
    again = _first_twice(names.to_frame("subject").with_row_index("row").filter(names.is_not_null()))
    first = ""
    if again is not None:
        places = [table.place(int(row)) for row in rows[list(again)]]
        first = f"; first {names[again[0]]!r} in {places[0]} and {places[1]}"
    warnings.append(repeated_subjects(several, n_subjects, n_rows, first))


def _first_twice(frame: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first two rows that are equal apart from their column `row`, or None."""
    frame = frame if "row" in frame.columns else frame.with_row_index("row")
    values = [name for name in frame.columns if name != "row"]
    copies = frame.filter(frame.select(values).is_duplicated())
    if not copies.height:
        return None
    first = copies.join(copies.head(1).drop("row"), on=values, how="semi", nulls_equal=True)["row"].sort()
    return int(first[0]), int(first[1])


def _refuse(table: Table, cells: Cells, rows: Ints, what: str, expected: str) -> None:
    value, where = cells.value(int(rows[0])), f"{table.source}, column {cells.title}"
    said = what.format(repr(value), *(table.place(int(row)) for row in rows))
    raise InputError(where, value, expected, f"{where}: {said}; expected {expected}")
