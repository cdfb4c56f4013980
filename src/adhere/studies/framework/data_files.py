"""Tables as the files that a study leaves beside its page."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from adhere.files import write_file

if TYPE_CHECKING:
    import polars


def table_files(tables: Mapping[str, polars.DataFrame]) -> dict[str, bytes]:
    """Each table as CSV and as Parquet, by the name of its file."""
    contents: dict[str, bytes] = {}
    for name, table in tables.items():
        parquet, csv = io.BytesIO(), io.BytesIO()
        table.write_parquet(parquet)
        table.write_csv(csv)
        contents |= {f"{name}.parquet": parquet.getvalue(), f"{name}.csv": csv.getvalue()}
    return contents


def write_tables(folder: Path, tables: Mapping[str, polars.DataFrame]) -> None:
    """Write each table as CSV and as Parquet."""
    for name, content in table_files(tables).items():
        write_file(folder / name, content)
