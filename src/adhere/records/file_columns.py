"""Read the columns of a CSV file as text, by polars or row by row, and the categories in a Parquet file.

Reading row by row is ten times slower, but handles what polars does not: rows that are too short, bytes that are not
UTF-8 in columns that are not needed, blank lines, and the line number of a mistake.

pandas writes the categories of a column as its dictionary, in their order. polars reads the values but not the order
of a dictionary. pyarrow, with which pandas wrote the file, reads both.
"""

import csv
import gzip
import json
from collections.abc import Iterable, Sequence
from functools import reduce
from importlib import import_module
from itertools import islice
from operator import and_
from pathlib import Path
from typing import IO, cast

import numpy as np
import polars as pl

from adhere.csv_cells import ESCAPED_FORMULA
from adhere.errors import InputError
from adhere.frames import arm_text
from adhere.records.csv_rows import csv_rows

_CHUNK = 1 << 20


def csv_columns(path: Path, titles: Sequence[str], wanted: Sequence[str], separator: str) -> dict[str, pl.Series]:
    """Return the wanted columns as stripped text: null for empty cells, escapes undone, blank rows left out."""
    columns = _plain(path, titles, wanted, separator)
    columns = _row_by_row(path, titles, wanted) if columns is None else columns
    return {title: _unescaped(column) for title, column in columns.items()}


def line_of(path: Path, row: int) -> int:
    """Return the line number of a row, counted from 0 below the header."""
    line, _, _ = next(islice(csv_rows(path, errors="replace"), row + 1, None))
    return line


def _plain(path: Path, titles: Sequence[str], wanted: Sequence[str], separator: str) -> dict[str, pl.Series] | None:
    """Return the columns as polars reads them, or None if they may differ from those of `csv_rows`."""
    with _open(path) as file:
        first = file.readline().decode("utf-8-sig", errors="replace")
    try:
        header = next(csv.reader([first], delimiter=separator), [])
    except csv.Error:
        return None  # line ends of old Macs
    if len(header) != len(titles):
        return None  # blank lines before the header, or a line end inside it
    last = len(titles) - 1
    places = sorted({0, last, *(titles.index(title) for title in wanted)})
    try:
        table = pl.read_csv(path, columns=places, separator=separator, infer_schema=False, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        return None
    # One column at a time, so that there are never two copies of the whole table.
    names = dict(zip(places, table.columns, strict=True))
    may_be_short = table[names[last]].null_count() > 0
    columns = {}
    for title in dict.fromkeys(wanted):
        columns[title] = _stripped(table.drop_in_place(names.pop(titles.index(title))))
    blank = _all_null(columns.values())
    if blank.any():
        blank = _all_null([*columns.values(), *(_stripped(table[name]) for name in names.values())])
    n_blank = int(blank.sum())
    n_rows = len(blank) - n_blank
    # Blank lines at the end do not matter. Elsewhere they make a row's line number uncertain.
    if not blank.tail(n_blank).all():
        return None
    # polars pads rows that are too short, and ignores empty cells after the last column.
    n_lines = (_n_whole if may_be_short else _n_on_average)(path, separator, last)
    return {title: column.head(n_rows) for title, column in columns.items()} if n_lines == n_rows + 1 else None


def _all_null(columns: Iterable[pl.Series]) -> pl.Series:
    return reduce(and_, (column.is_null() for column in columns))


def _stripped(column: pl.Series) -> pl.Series:
    column = column.str.strip_chars()
    return column.replace("", None) if (column == "").any() else column


def _n_on_average(path: Path, separator: str, n_separators: int) -> float:
    """Return the number of lines, if each contains `n_separators` separators outside quotation marks."""
    found, quoted = 0, False
    with _open(path) as file:
        while chunk := file.read(_CHUNK):
            parts = chunk.split(b'"')
            found += sum(part.count(separator.encode()) for part in parts[int(quoted) :: 2])
            quoted ^= len(parts) % 2 == 0
    return found / n_separators


def _n_whole(path: Path, separator: str, n_separators: int) -> float:
    """Return the number of leading lines with `n_separators` separators outside quotation marks.

    Return NaN if a line has another positive number of separators, or if a line without any comes before others.
    """
    found, quoted, rest, ended = 0, 0, 0, False
    with _open(path) as file:
        while chunk := file.read(_CHUNK):
            data = np.frombuffer(chunk, dtype=np.uint8)
            marks, ends = data == ord(separator), data == ord("\n")
            if quoted or b'"' in chunk:
                inside = (np.cumsum(data == ord('"')) + quoted) % 2
                marks, ends, quoted = marks & (inside == 0), ends & (inside == 0), int(inside[-1])
            before = np.searchsorted(np.flatnonzero(marks), np.flatnonzero(ends)) + rest
            in_line = np.diff(before, prepend=0)
            n_first = int(np.argmin(in_line == n_separators)) if np.any(in_line != n_separators) else len(in_line)
            if np.any(in_line[n_first:]) or (ended and n_first):
                return np.nan
            found, ended = found + n_first, ended or n_first < len(in_line)
            rest += int(np.count_nonzero(marks)) - (int(before[-1]) if len(before) else 0)
    if rest not in (0, n_separators) or (rest and ended):
        return np.nan
    return found + (rest == n_separators)


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if path.name.lower().endswith(".gz") else path.open("rb")


def _row_by_row(path: Path, titles: Sequence[str], wanted: Sequence[str]) -> dict[str, pl.Series]:
    places = [titles.index(title) for title in wanted]
    columns: list[list[str | None]] = [[] for _ in wanted]
    for line, cells, _ in islice(csv_rows(path, errors="surrogateescape"), 1, None):
        for title, place, column in zip(wanted, places, columns, strict=True):
            value = cells[place]
            if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
                raw = value.encode(errors="surrogateescape")
                raise InputError(f"{path}, line {line}, column {title}", raw, "UTF-8 text")
            column.append(value or None)
    return {title: pl.Series(title, column, dtype=pl.String) for title, column in zip(wanted, columns, strict=True)}


def _unescaped(column: pl.Series) -> pl.Series:
    escaped = column.str.contains(ESCAPED_FORMULA)
    return column.str.slice(1).zip_with(escaped, column) if escaped.any() else column


def pandas_categories(path: Path, title: str) -> Sequence[str] | None:
    """Return the categories of a column in their order, () if pandas wrote none, or None if pyarrow is missing."""
    if not _is_categorical(path, title):
        return ()
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        return None
    try:
        with parquet.ParquetFile(path) as file:
            column = file.read(columns=[title]).column(title).unify_dictionaries()
    except ValueError as error:  # the base class of pyarrow's own error
        raise InputError("file", str(path), f"a table in Parquet that can be read ({error})") from None
    chunks = [chunk for chunk in column.chunks if hasattr(chunk, "dictionary")]
    return [arm_text(one) for one in chunks[0].dictionary.to_pylist()] if chunks else ()


def _is_categorical(path: Path, title: str) -> bool:
    """Return whether the pandas metadata of a file says that a column is categorical."""
    try:
        written = json.loads(pl.read_parquet_metadata(path).get("pandas", "{}"))
        kinds = {one["field_name"]: one["pandas_type"] for one in written.get("columns", [])}
    except (AttributeError, KeyError, TypeError, ValueError):  # something else wrote metadata under that name
        return False
    return kinds.get(title) == "categorical"
