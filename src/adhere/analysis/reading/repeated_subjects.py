"""Subjects and recommendations that a table has more than once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from adhere.analysis.reading.record_warnings import repeated_subjects
from adhere.analysis.records import Bools, Ints
from adhere.csv_cells import is_missing
from adhere.errors import InputError
from adhere.records.cells import Cells
from adhere.records.table import Table

_ORDERED = ("RECOMMENDATION_ID", "RECPOS", "time")


def check_subjects(table: Table, cells: Mapping[str, Cells], kept: Bools, warnings: list[str]) -> None:
    """Refuse a row that is there twice, and warn of subjects with several.

    A recommendation can be there once only. A subject may come again, but where nothing tells rows apart (no
    recommendation and no time) two equal rows of a subject are taken as a slip.
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
    """The first two rows that are equal, whatever their column `row` says; None if there are none."""
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
