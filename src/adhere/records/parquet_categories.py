"""The order of the categories of a column that pandas wrote to a Parquet file.

pandas writes the categories as the dictionary of the column, in their order. polars reads the values but not the
order of a dictionary; pyarrow, which pandas wrote the file with, reads both.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import polars as pl

from adhere.errors import InputError
from adhere.frames import arm_text


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
    except ValueError as error:  # the base class of pyarrow's own
        raise InputError("file", str(path), f"a table in Parquet that can be read ({error})") from None
    chunks = [chunk for chunk in column.chunks if hasattr(chunk, "dictionary")]
    return [arm_text(one) for one in chunks[0].dictionary.to_pylist()] if chunks else ()


def _is_categorical(path: Path, title: str) -> bool:
    """Whether a file says in pandas' own words that a column is categorical."""
    try:
        written = json.loads(pl.read_parquet_metadata(path).get("pandas", "{}"))
        kinds = {one["field_name"]: one["pandas_type"] for one in written.get("columns", [])}
    except (AttributeError, KeyError, TypeError, ValueError):  # written by something else under that name
        return False
    return kinds.get(title) == "categorical"
