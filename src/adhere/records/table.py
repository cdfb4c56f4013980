"""A table from a file or a frame, as a polars frame with the columns that are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from adhere.csv_cells import unescape
from adhere.errors import InputError
from adhere.files import unreadable
from adhere.frames import Frame, is_frame
from adhere.records.csv_rows import SEPARATORS, csv_rows

if TYPE_CHECKING:
    import polars as pl


SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet")
_OF_A_FILE = "; --chosen, --actual and --reward (in Python: chosen=…) say which columns are meant"


@dataclass(frozen=True)
class Table:
    """A table that reads columns on request; `hint` says how to name columns that were not found."""

    source: str
    name: str
    titles: Sequence[str]
    columns: Callable[[Sequence[str]], Mapping[str, pl.Series]]
    place: Callable[[int], str]
    hint: str
    separator: str = ""
    # Returns the categories of a categorical column, in their order, or None if they cannot be read here.
    categories: Callable[[str], Sequence[str] | None] = lambda title: ()


def is_table(given: object) -> bool:
    """Return whether a value is a frame, or the name of a file that may contain records."""
    return is_frame(given) or (isinstance(given, (str, PathLike)) and str(given).strip().lower().endswith(SUFFIXES))


def open_table(given: object, caller: str) -> Table:
    """Open a frame or a file as a table; `caller` is the function whose arguments name a frame's columns."""
    if is_frame(given):
        frame = Frame(given)
        hint = f"; {caller}(frame, chosen=…, actual=…, reward=…) says which columns are meant"

        def columns(wanted: Sequence[str]) -> Mapping[str, pl.Series]:
            return {title: frame.column(title) for title in wanted}

        return Table("table", "table", frame.titles, columns, _row, hint, categories=frame.categories)
    path = Path(str(given).strip())
    return _parquet_table(path) if path.suffix.lower() == ".parquet" else _csv_table(path)


def _csv_table(path: Path) -> Table:
    _, header, separator = next(csv_rows(path, errors="surrogateescape"))
    titles = [unescape(title) for title in header]

    def columns(wanted: Sequence[str]) -> Mapping[str, pl.Series]:
        from adhere.records.file_columns import csv_columns

        return csv_columns(path, titles, wanted, separator)

    def place(row: int) -> str:
        from adhere.records.file_columns import line_of

        return f"line {line_of(path, row)}"

    hint = _OF_A_FILE + (f"; it was read as separated by {SEPARATORS[separator]}" if separator != "," else "")
    return Table(str(path), _stem(path), titles, columns, place, hint, separator)


def _parquet_table(path: Path) -> Table:
    import polars as pl

    def columns(wanted: Sequence[str]) -> Mapping[str, pl.Series]:
        with _parquet_errors(path):
            table = pl.read_parquet(path, columns=list(dict.fromkeys(wanted)))
        return {title: table[title] for title in wanted}

    with _parquet_errors(path):
        titles = list(pl.read_parquet_schema(path))

    def categories(title: str) -> Sequence[str] | None:

        with _parquet_errors(path):
            from adhere.records.file_columns import pandas_categories

            return pandas_categories(path, title)

    return Table(str(path), _stem(path), titles, columns, _row, _OF_A_FILE, categories=categories)


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    import polars as pl

    try:
        yield
    except OSError as error:
        raise unreadable("file", path, error) from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise InputError("file", str(path), f"a table in Parquet that can be read ({reason})") from None


def _row(number: int) -> str:
    return f"row {number + 1}"


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix) or name
    return name
