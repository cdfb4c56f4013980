"""Export a trial: a table in CSV or Parquet, or its log."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

from adhere.design.design import Design
from adhere.errors import InputError
from adhere.store import ReadTransaction
from adhere.trial.log.csv_tables import escaped_table
from adhere.trial.log.log_file import write_log
from adhere.trial.log.table import schema, tables

FORMATS = ("csv", "parquet", "log")
__all__ = ["FORMATS", "write_log", "write_table"]


def write_table(
    view: ReadTransaction,
    trial: int,
    design: Design,
    path: Path,
    format: str,  # noqa: A002  (what everybody calls it)
    on_progress: Callable[[int], None] = lambda n: None,
) -> str:
    """Write a trial's table; returns the head of the log it was made from."""
    head = view.head(trial).hash.hex()
    if format == "csv":
        _write_csv(view, trial, design, path, escaped_table, on_progress)
    elif format == "parquet":
        # Row by row through a file, so that memory stays flat however long the trial is.
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.csv"
            _write_csv(view, trial, design, rows, lambda table: table, on_progress)
            try:
                pl.scan_csv(rows, schema=schema(design)).sink_parquet(path)
            except pl.exceptions.PolarsError as error:  # as Polars says that a disk is full
                raise OSError(f"the Parquet file could not be written: {error}") from None
    else:
        raise InputError("format", format, f"one of {', '.join(FORMATS)}")
    return head


def _write_csv(
    view: ReadTransaction,
    trial: int,
    design: Design,
    path: Path,
    written: Callable[[pl.DataFrame], pl.DataFrame],
    on_progress: Callable[[int], None],
) -> None:
    with path.open("wb") as file:
        written(pl.DataFrame(schema=schema(design))).write_csv(file)
        for table in tables(view, trial, design, on_progress):
            written(table).write_csv(file, include_header=False, datetime_format="%Y-%m-%dT%H:%M:%S%.6fZ")
