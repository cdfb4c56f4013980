"""The data files of `adhere reproduce --quick`, column by column."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import polars

from .digests import digest
from .renames import old_name


def data_files(folder: Path) -> dict[str, Any]:
    """For each column of each table in the folder: a digest of its text in CSV, and of its values in Parquet."""
    entries = {}
    for path in sorted(folder.glob("*/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
        values = polars.read_parquet(path.with_suffix(".parquet"))
        table = f"{old_name(path.parent.name)}/{old_name(path.stem)}"
        for place, (column, name) in enumerate(zip(header, values.columns, strict=True)):
            entries[f"{table}/{old_name(column)}"] = {
                "rows": len(rows),
                "first": rows[0][place],
                "csv": digest([row[place] for row in rows]),
                "parquet": digest([old_name(name), str(values[name].dtype), values[name].to_list()]),
            }
    return entries
