"""A table as its CSV file has it, where text that a spreadsheet would take for a formula is escaped, and back."""

from __future__ import annotations

import polars as pl

from adhere.csv_cells import ESCAPED_FORMULA, FORMULA, escape, unescape

_TEXT = pl.col(pl.String)


def escaped_table(table: pl.DataFrame) -> pl.DataFrame:
    """A table to be written as CSV: headers and texts escaped, numbers and times as they are."""
    texts = pl.when(_TEXT.str.contains(FORMULA)).then(pl.lit("'") + _TEXT).otherwise(_TEXT)
    return table.with_columns(texts.name.keep()).rename(escape)


def unescaped_table(table: pl.DataFrame) -> pl.DataFrame:
    """A table that was read from CSV, as it was before it was escaped."""
    texts = pl.when(_TEXT.str.contains(ESCAPED_FORMULA)).then(_TEXT.str.slice(1)).otherwise(_TEXT)
    return table.with_columns(texts.name.keep()).rename(unescape)
