"""Base of lists of results, and lookup of one result among many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from adhere.checks import is_integer
from adhere.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas
    import polars

T = TypeVar("T")
_MAX_LINES, _LINE_WIDTH = 10, 100  # limits of `repr`


def index_of(field: str, wanted: object, spellings: Sequence[str], names: Sequence[Sequence[str]]) -> int:
    """Return the index of the item that a user named by its index or by any of its names.

    `spellings` are the texts by which `wanted` may be known, the plainest first.
    """
    if is_integer(wanted):
        if not -len(names) <= wanted < len(names):
            raise IndexError(f"{field}: got {wanted}, expected a place from 0 to {len(names) - 1}")
        return range(len(names))[wanted]
    for text in spellings:
        for index, own in enumerate(names):
            if text in own:
                return index
    raise InputError(field, spellings[0], nearest(spellings[0], [own[0] for own in names]))


class ResultList(Generic[T]):
    """Base of lists of results in a fixed order."""

    def _results(self) -> Sequence[T]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._results())

    def __iter__(self) -> Iterator[T]:
        return iter(self._results())

    def _in_short(self, title: str, lines: Sequence[str], more: str) -> str:
        """Return a `repr` of a title and a line for each result; with many results, only the first ones."""
        n_shown = len(lines) if len(lines) < _MAX_LINES else _MAX_LINES - 2
        shown = [f"{type(self).__name__}: {title}", *(f"  {line}" for line in lines[:n_shown])]
        if n_shown < len(lines):
            shown.append(f"  and {len(lines) - n_shown} more: see {more}")
        return "\n".join(line if len(line) <= _LINE_WIDTH else f"{line[: _LINE_WIDTH - 1]}…" for line in shown)


class HasFrame:
    """Base of classes with a polars frame, and therefore a pandas frame."""

    def to_polars(self) -> polars.DataFrame:
        """Return a polars frame."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """Return the frame of `to_polars` as a pandas frame (extra `pandas`)."""
        from adhere.frames import as_pandas

        return as_pandas(self.to_polars())
