"""Cells of a column as values: names of arms, rewards, counts, numbers. Errors name the cell."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from adhere.checks import MAX_COUNT, check_count, check_reward
from adhere.csv_cells import is_missing, reward_in
from adhere.errors import InputError
from adhere.frames import arm_text
from adhere.records.table import Table

T = TypeVar("T")
Floats = NDArray[np.float64]
Holds = Callable[[Floats], NDArray[np.bool_]]

_A_REWARD = "a number from 0 to 1, true or false, or nothing (also NA) where it is missing"
_A_DATE = "a number from 0 to 1, not a date: make it a success within a period (1) or none (0)"
_RESCALED = "; rescale it: (value - lowest possible) / (highest possible - lowest possible)"
_A_COUNT = "a whole number in digits alone, without a decimal mark or a mark between thousands"
_ONE_VALUE = "one value in each row"
_MISSING = -1
# In the syntax that the regular expressions of Python and polars share; 12.0 is how libraries write a float.
_UNCLEAR_COUNT = r"[.,]([^0]|0.|$)"
_A_NUMBER, _A_FLOAT = r"^-?[0-9]+(\.[0-9]+)?$", r"^-?[0-9]+\.[0-9]+$"


@dataclass(frozen=True)
class Cells:
    """A column of a table."""

    table: Table
    title: str
    column: pl.Series

    def __post_init__(self) -> None:
        if self.column.dtype.is_nested():
            where = f"{self.table.source}, column {self.title}"
            sentence = f"{where}: got {self.column.dtype}, expected {_ONE_VALUE}"
            raise InputError(where, str(self.column.dtype), _ONE_VALUE, sentence)

    @property
    def categories(self) -> Sequence[str] | None:
        """The categories of a categorical column, in order; () for other columns, including polars' Categorical.

        None if there are categories that cannot be read here.
        """
        kind = self.column.dtype
        return kind.categories.to_list() if isinstance(kind, pl.Enum) else self.table.categories(self.title)

    def where(self, row: int) -> str:
        """Return the location of a cell, for an error message."""
        return f"{self.table.source}, {self.table.place(row)}, column {self.title}"

    def value(self, row: int) -> Any:
        """Return the value in a row."""
        return self.column[row]

    def arms(self, listed: Collection[str] = ()) -> tuple[NDArray[np.int64], list[str]]:
        """Return the index of each cell's name (-1 if missing), and the names in order of first appearance.

        `listed` contains names that are valid although they usually mean "missing".
        """
        column = self.column.cast(pl.String) if self.column.dtype in (pl.Categorical, pl.Enum) else self.column
        names: dict[str, int] = {}

        def number(value: object) -> int:
            name = arm_text(value)
            return _MISSING if is_missing(name) and name not in listed else names.setdefault(name, len(names))

        if column.dtype == pl.Object:
            return np.array([number(value) for value in column], dtype=np.int64), list(names)
        column = column.fill_nan(None) if column.dtype.is_float() else self._without_point_zero(column)
        found = column.drop_nulls().unique(maintain_order=True)
        numbers = pl.Series([number(value) for value in found.to_list()], dtype=pl.Int64)
        return _replaced(column, found, numbers), list(names)

    def spellings(self) -> dict[str, int]:
        """Return the number of rows with each text, sorted by text; empty unless some text has blanks around it."""
        column = self.column.cast(pl.String) if self.column.dtype in (pl.Categorical, pl.Enum) else self.column
        if column.dtype == pl.Object:
            column = pl.Series([one for one in column if isinstance(one, str)], dtype=pl.String)
        if column.dtype != pl.String:
            return {}
        counted = column.drop_nulls().value_counts(name="rows")
        texts, rows = counted.to_series(0), counted["rows"]
        if not (texts.str.strip_chars() != texts).any():
            return {}
        return dict(sorted(zip(texts.to_list(), rows.to_list(), strict=True)))

    def rewards(self) -> Floats:
        """Return the rewards, with NaN for missing ones."""
        return self._numbers(self._reward, lambda values: (values >= 0.0) & (values <= 1.0), np.nan)

    def counts(self) -> NDArray[np.int64]:
        """Return the numbers of patients."""
        is_text = self.column.dtype == pl.String  # in which null is an empty cell
        if is_text:
            unclear = self.column.str.contains(_UNCLEAR_COUNT).fill_null(False).arg_true()
            if len(unclear):
                raise InputError(self.where(unclear[0]), self.value(unclear[0]), _A_COUNT)
        return self._numbers(
            lambda where, value: _count(where, value or "" if is_text else value), _are_counts
        ).astype(np.int64)

    def patients(self, *, is_named: bool) -> tuple[NDArray[np.int64], str]:
        """Return the numbers of patients, and a warning if the column is only read as a count because it is called
        n.
        """
        counts, title = self.counts(), self.title
        if title.lower() != "n" or is_named:
            return counts, ""
        if len(counts) > 2 and np.array_equal(counts, np.arange(1, len(counts) + 1)):
            say = f"column {title} numbers the rows; rename it, or say that it counts patients: count={title!r}"
            source = self.table.source
            raise InputError(f"{source}, column {title}", "1, 2, 3, …", say, f"{source}: {say}")
        return counts, f"column {title} is taken as a count of patients (count={title!r} says so)"

    def numbers(self, expected: str, holds: Holds) -> Floats:
        """Return numbers that all satisfy a condition, with NaN for missing ones."""

        def number(where: str, value: object) -> float:
            if not isinstance(value, (int, float, Decimal, str)):
                raise InputError(where, value, expected)
            if isinstance(value, str) and is_missing(value):
                return np.nan
            try:
                parsed = float(value.replace("_", "?") if isinstance(value, str) else value)
            except ValueError:
                parsed = np.nan
            if not holds(np.array([parsed]))[0]:
                raise InputError(where, value, expected)
            return parsed

        return self._numbers(number, holds, np.nan)

    def lower_is_better(self) -> bool:
        """Return whether every row contains Y (a lower outcome is better); refuse rows that differ."""
        numbers, names = self.arms()
        expected = "Y in every row or in none"
        for number, name in enumerate(names):
            if name.upper() not in ("Y", "N"):
                raise InputError(self.where(int(np.argmax(numbers == number))), name, expected)
        is_lower = self.equals("Y")
        if is_lower.any() and not is_lower.all():
            found = f"Y in {int(is_lower.sum()):,} of {len(is_lower):,} rows"
            where = f"{self.table.source}, column {self.title}"
            raise InputError(where, found, expected, f"{where}: got {found}, expected {expected}")
        return bool(is_lower.any())

    def equals(self, word: str) -> NDArray[np.bool_]:
        """Return whether each cell contains a word, in any case."""
        numbers, names = self.arms()
        return np.isin(numbers, [number for number, name in enumerate(names) if name.upper() == word])

    def _reward(self, where: str, value: object) -> float:
        if isinstance(value, date):
            raise InputError(where, str(value), _A_DATE)
        if not isinstance(value, str):
            plain = float(value) if isinstance(value, Decimal) else value
            return _checked(where, value, lambda: check_reward(where, plain))
        if is_missing(value):
            return np.nan
        if re.match(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}", value):
            raise InputError(where, value, _A_DATE)
        # If columns are separated by semicolons, a comma in a number can only be a decimal point.
        text = value.strip().replace(",", ".") if self.table.separator == ";" else value.strip()
        try:
            number = reward_in(text)
        except ValueError:
            raise InputError(where, value, _A_REWARD) from None
        return _checked(where, value, lambda: check_reward(where, number))

    def _without_point_zero(self, column: pl.Series) -> pl.Series:
        """Return the names in a CSV file, with 1.0 turned into 1 if a missing value made whole numbers floats.

        This is assumed if all numbers have a decimal point, unless the title of another column ends in such a name.
        """
        if not self.table.separator or column.dtype != pl.String:
            return column
        names = column.drop_nulls().unique()
        numbers = names.filter(names.str.contains(_A_NUMBER))
        if not len(numbers) or not numbers.str.contains(_A_FLOAT).all():
            return column
        if any(title.endswith(tuple(numbers)) for title in self.table.titles):
            return column
        return column.str.replace(r"^(-?[0-9]+)\.0$", "$1")

    def _numbers(
        self,
        parse: Callable[[str, Any], float],
        holds: Holds,
        missing: float | None = None,
    ) -> Floats:
        """Return all cells as numbers. Cells that do not satisfy `holds` after a fast conversion are read by
        `parse`.
        """
        column = self.column
        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            quick = column.cast(pl.Float64)
        elif column.dtype == pl.String:
            text = column.str.replace(",", ".", literal=True) if self.table.separator == ";" else column
            quick = text.cast(pl.Float64, strict=False)
        else:
            quick = pl.Series([None] * len(column), dtype=pl.Float64)
        values: Floats = quick.to_numpy(writable=True).astype(np.float64)
        odd = ~holds(values)
        if missing is not None:
            gone = column.is_null().to_numpy() | (np.isnan(values) if column.dtype.is_float() else False)
            values[gone] = missing
            odd &= ~gone
        rows = np.flatnonzero(odd)
        known: dict[str, float] = {}
        for row, value in zip(rows, column.gather(rows).to_list() if len(rows) else (), strict=True):
            key = value if isinstance(value, str) else repr(value)
            if key not in known:
                known[key] = self._parsed(int(row), value, parse)
            values[row] = known[key]
        return values + 0.0  # turns -0.0 into 0.0

    def _parsed(self, row: int, value: Any, parse: Callable[[str, Any], float]) -> float:
        try:
            return parse("", value)
        except InputError:  # finding the location needs the file
            return parse(self.where(row), value)


def _replaced(column: pl.Series, old: pl.Series, new: pl.Series) -> NDArray[np.int64]:
    if not len(old):
        return np.full(len(column), _MISSING, dtype=np.int64)
    return column.replace_strict(old, new, default=_MISSING, return_dtype=pl.Int64).to_numpy()


def _are_counts(values: Floats) -> NDArray[np.bool_]:
    whole: NDArray[np.bool_] = values == np.floor(values)
    return (values >= 0) & (values <= MAX_COUNT) & whole


def _count(where: str, value: object) -> float:
    if not isinstance(value, str):
        return check_count(where, value)
    try:
        number = float(value.replace("_", "?"))
    except ValueError:
        raise InputError(where, value, "a number") from None
    return _checked(where, value, lambda: check_count(where, number))


def _checked(where: str, value: object, check: Callable[[], T]) -> T:
    """Run a check. Its error shows the value as written, and explains how to rescale a number that is out of
    range.
    """
    try:
        return check()
    except InputError as error:
        number = value if not isinstance(value, str) else float(value.replace(",", "."))
        is_outside = isinstance(number, (int, float)) and abs(number) < np.inf and error.expected.endswith("0 to 1")
        raise InputError(where, value, error.expected + _RESCALED * is_outside) from None
