"""Read a table of recommendations from a file or a frame: its columns, in CDISC's or adhere's names, arms and
rewards.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from adhere.csv_cells import is_missing, reward_in
from adhere.errors import InputError
from adhere.frames import Frame, arm_text, is_frame
from adhere.records.arms import folded, sorted_names
from adhere.trial.log.table import unescaped_table

_ALSO_CALLED = {
    "subject": "USUBJID",
    "site": "SITEID",
    "chosen": "TRTP",
    "ARM": "TRTP",
    "actual": "TRTA",
    "ACTARM": "TRTA",
    "reward": "AVAL",
}

_DATES, _FLAGS = ("RANDDTM", "TRTADTM", "ADTM"), ("TRTADTYP", "DTYPE", "WITHDFL", "INERRFL", "LOWERFL")
_MAY_BE_MISSING = ("USUBJID", "TRTP", "TRTA", "TRTASTAT", "AVAL", *_DATES, *_FLAGS)


def read_table(given: object) -> pl.DataFrame:
    """Read a CSV or Parquet file, or a frame. Columns may have CDISC's or adhere's own names."""
    table = _from_frame(Frame(given)) if is_frame(given) else _from_file(Path(str(given)))
    given_columns = table.columns
    _check_spelling(given_columns)
    for old, new in _ALSO_CALLED.items():
        if old in table.columns:
            if new in table.columns:
                raise InputError("columns", f"{old} and {new}", "only one of them: they mean the same")
            table = table.rename({old: new})
    for column in ("USUBJID", "TRTP"):
        if column not in table.columns:
            expected = f"at least USUBJID (subject) and TRTP (chosen); {column} is missing"
            raise InputError("columns", ", ".join(given_columns), expected)
    return _without_words_for_missing(table)


def _check_spelling(columns: list[str]) -> None:
    """Refuse a misspelling of adhere's own names. Other columns, such as CDISC's many variables, are ignored."""
    own = [name for name in _ALSO_CALLED if name.islower() and name not in columns]
    for column in columns:
        if column.isupper() or column in _ALSO_CALLED:
            continue
        for close in get_close_matches(column.lower(), own, n=1, cutoff=0.8):
            raise InputError("columns", column, close, f"unknown column {column!r}; did you mean {close!r}?")


def _without_words_for_missing(table: pl.DataFrame) -> pl.DataFrame:
    """Replace NA and similar words by null, unless a column PROB_… shows that an arm has this name."""
    listed = {column.removeprefix("PROB_") for column in table.columns if column.startswith("PROB_")}
    for column in {*_MAY_BE_MISSING, *(f"PROB_{arm}" for arm in listed)}.intersection(table.columns):
        values = table[column]
        if values.dtype == pl.String:
            arms = listed if column in ("TRTP", "TRTA") else set()
            words = [word for word in values.drop_nulls().unique() if is_missing(word) and word not in arms]
            table = table.with_columns(pl.when(~pl.col(column).is_in(words)).then(pl.col(column)).alias(column))
        elif values.dtype.is_float():
            table = table.with_columns(pl.col(column).fill_nan(None))
    return table


def _from_file(path: Path) -> pl.DataFrame:
    try:
        is_parquet = path.suffix.lower() == ".parquet"
        return pl.read_parquet(path) if is_parquet else unescaped_table(pl.read_csv(path, infer_schema=False))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("file", str(path), f"a table in CSV or Parquet ({str(error).splitlines()[0]})") from None


def _from_frame(frame: Frame) -> pl.DataFrame:
    columns = {title: frame.values(title) for title in frame.titles}
    for title in columns:
        if _ALSO_CALLED.get(title, title) in ("TRTP", "TRTA"):
            columns[title] = [arm_text(value) or None for value in columns[title]]
    return pl.DataFrame([pl.Series(title, values, strict=False) for title, values in columns.items()])


def arms_in(table: pl.DataFrame) -> list[str]:
    """Return the arms that a table recommends, in the order of its probability columns or, without these, of their
    names.

    Labels that differ only in case or blanks are one arm, spelled as in most rows. Arms that were only taken are not
    included, because they may be entry errors or treatments outside the trial.
    """
    listed = [column.removeprefix("PROB_") for column in table.columns if column.startswith("PROB_")]
    if listed:
        return listed
    rows = table["TRTP"].drop_nulls().value_counts(sort=False).rows()
    spelled: dict[str, str] = {}
    for name, _ in sorted(rows, key=lambda row: (-row[1], str(row[0]))):
        spelled.setdefault(folded(str(name)), name)
    return sorted_names(spelled.values())


def with_arms(table: pl.DataFrame, arms: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return a table with labels spelled like the trial's arms, and a note on each label that was respelled.

    A label that differs from exactly one arm only in case or blanks means that arm. Other labels are unchanged.
    """
    notes = []
    small = [folded(arm) for arm in arms]
    for column in {"TRTP", "TRTA"}.intersection(table.columns) if table.height else ():
        names = [name for name in table[column].drop_nulls().unique().to_list() if name not in arms]
        meant = {name: small.index(folded(name)) for name in map(str, names) if small.count(folded(name)) == 1}
        for name in sorted(meant):
            n = int((table[column] == name).sum())
            rows = f"{n:,} row{'' if n == 1 else 's'}"
            notes.append(f"{name!r} ({rows} of column {column}) is read as {arms[meant[name]]!r}")
        if meant:
            spelled = {name: arms[number] for name, number in meant.items()}
            table = table.with_columns(pl.col(column).replace(spelled))
    return table, sorted(notes)


def is_rehearsal(table: pl.DataFrame) -> bool:
    """Return whether a table is marked as a rehearsal."""
    return "REHEARSAL" in table.columns and bool((table["REHEARSAL"] == "Y").any())


def lower_is_better_in(table: pl.DataFrame) -> bool:
    """Return whether a table is marked as one in which lower outcomes are better."""
    if "LOWERFL" not in table.columns:
        return False
    found = {str(value).upper() for value in table["LOWERFL"].unique() if value is not None and value != ""}
    is_lower = found == {"Y"} and not table["LOWERFL"].is_null().any()
    if found - {"N"} and not is_lower:
        raise InputError("LOWERFL", ", ".join(sorted(found)), "Y in every row or in none")
    return is_lower


def rewards_in(table: pl.DataFrame) -> list[float]:
    """Return the distinct rewards of a table."""
    values = table["AVAL"].drop_nulls().unique().to_list() if "AVAL" in table.columns else []
    return [number_of({"AVAL": value}, "AVAL", 0.0, reward_in) for value in values if value != ""]


def text_of(row: Mapping[str, Any], column: str) -> str:
    """Return a cell's text, or an empty text if the cell is empty."""
    value = row.get(column)
    return "" if value is None else str(value)


def number_of(
    row: Mapping[str, Any], column: str, otherwise: float, number_in: Callable[[str], float] = float
) -> float:
    """Return a cell's number, or `otherwise` if the cell is empty."""
    text = text_of(row, column)
    try:
        number = number_in(text) if text else otherwise
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(column, text, "a number, true or false" if number_in is reward_in else "a number")
    return number
