"""Frames with users' data: pandas, polars, or anything that provides Arrow columns.

pandas is optional, and imported only if a pandas frame is requested.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

from adhere.errors import InputError

if TYPE_CHECKING:
    import pandas
    import polars as pl


class FrameLike(Protocol):
    """A pandas or polars frame, or another table with named columns."""

    @property
    def columns(self) -> Any:
        """Names of the columns, or the columns themselves."""


class Frame:
    """The columns of a frame by name, as lists of plain values in which missing values are None."""

    def __init__(self, frame: object) -> None:
        kind = type(frame)
        if kind.__name__ == "Series":
            library = kind.__module__.partition(".")[0]
            expected = "a frame, with a column for each of chosen, actual and reward"
            counts = "; counts by these are one with .reset_index(name='count')" if library == "pandas" else ""
            sentence = f"table: got a Series of {library}, expected {expected}{counts}"
            raise InputError("table", frame, expected, sentence)
        self._columns = _pandas_columns(frame) if _is_of("pandas", frame) else _polars_columns(frame)
        self.titles = [title for title, _ in self._columns]

    def values(self, title: str) -> list[Any]:
        """Return the values of a column."""
        column = self._columns[self.titles.index(title)][1]
        if not hasattr(column, "isna"):
            return list(column.to_list())
        # In a list, NaN, NaT and NA would be different values.
        return [None if gone else value for value, gone in zip(column.tolist(), column.isna().tolist(), strict=True)]

    def categories(self, title: str) -> list[str]:
        """Return the categories of a categorical pandas column, in their order, or [] for other columns."""
        kind = self._columns[self.titles.index(title)][1].dtype
        return [arm_text(one) for one in kind.categories] if hasattr(kind, "ordered") else []

    def column(self, title: str) -> pl.Series:
        """Return a column as a polars series, which contains Python objects if the values have several types."""
        import polars as pl

        column = self._columns[self.titles.index(title)][1]
        if isinstance(column, pl.Series):
            return column
        if getattr(column.dtype, "kind", "O") in "biuf" and hasattr(column.dtype, "byteorder"):
            return pl.Series(title, column.to_numpy())
        values = self.values(title)
        try:
            return pl.Series(title, values)
        except (TypeError, pl.exceptions.PolarsError):
            return pl.Series(title, values, dtype=pl.Object)


def is_frame(given: object) -> bool:
    """Return whether a value is a frame.

    >>> is_frame([1, 2]), is_frame("trial.csv")
    (False, False)
    """
    return _is_of("pandas", given) or _is_of("polars", given) or hasattr(given, "__arrow_c_stream__")


def arm_text(value: object) -> str:
    """Return the name of an arm in a frame. Numbers are names too, even if a missing value turned them into floats.

    >>> arm_text("aspirin"), arm_text(1.0), arm_text(None)
    ('aspirin', '1', '')
    """
    if value is None or value != value:  # NaN
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _is_of(library: str, given: object) -> bool:
    module = sys.modules.get(library)
    kinds = tuple(getattr(module, name) for name in ("DataFrame", "LazyFrame") if hasattr(module, name))
    return bool(kinds) and isinstance(given, kinds)


def _pandas_columns(frame: Any) -> list[tuple[str, Any]]:
    columns = [(str(title), frame.iloc[:, place]) for place, title in enumerate(frame.columns)]
    taken = {title for title, _ in columns}
    for level, name in enumerate(frame.index.names):  # grouping keys and index levels are data too
        if name is not None and str(name) not in taken:
            columns.append((str(name), frame.index.get_level_values(level)))
    return columns


def _polars_columns(frame: Any) -> list[tuple[str, Any]]:
    import polars as pl

    table = frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)
    return [(column.name, column) for column in table.get_columns()]


def as_pandas(frame: pl.DataFrame) -> pandas.DataFrame:
    """Return the same frame in pandas. Polars' own conversion would also need PyArrow."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "to_pandas needs pandas: pip install 'adhere[pandas]' (in a checkout: '.[pandas]')"
        ) from None

    import polars as pl

    def array_of(column: pl.Series) -> Any:
        if isinstance(column.dtype, pl.Enum):
            names = pandas.Index(column.dtype.categories.to_list())
            return pandas.Categorical.from_codes(column.to_physical().to_numpy(), names)
        return column.to_numpy()

    return pandas.DataFrame({column.name: array_of(column) for column in frame})
