"""The data files of `adhere reproduce --quick`, column by column."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars

from .digests import digest, fingerprint
from .renames import old_column, old_name


def data_files(folder: Path) -> dict[str, Any]:
    """For each column of each table in the folder: its first value, and a digest or fingerprint of all of them."""
    entries = {}
    for path in sorted(folder.glob("*/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
        values = polars.read_parquet(path.with_suffix(".parquet"))
        table = f"{old_name(path.parent.name)}/{old_name(path.stem)}"
        for place, (column, name) in enumerate(zip(header, values.columns, strict=True)):
            texts, own = [row[place] for row in rows], values[name].to_list()
            entries[f"{table}/{old_column(table, column)}"] = {
                "rows": len(rows),
                "first": own[0],
                "csv": "as in Parquet" if _says(texts, own) else digest(texts),
                "parquet": fingerprint([old_column(table, name), str(values[name].dtype), own]),
            }
    return entries


def _says(texts: Sequence[str], values: Sequence[Any]) -> bool:
    """Whether text in a CSV file says the same as the numbers of a column, to the last digit."""
    if not any(isinstance(value, float) for value in values):
        return False
    return all(
        text == "" if value is None else repr(float(text)) == repr(value)
        for text, value in zip(texts, values, strict=True)
    )
