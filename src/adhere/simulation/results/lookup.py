"""Lookup of one result among many, and what lists of results have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from adhere.checks import is_integer
from adhere.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas
    import polars

T = TypeVar("T")
_MAX_LINES, _LINE_WIDTH = 10, 100  # of `repr`


def index_of(field: str, wanted: object, spellings: Sequence[str], names: Sequence[Sequence[str]]) -> int:
    """The index of what a user means: given as an index, or as text, by any of the names of each.

    `spellings` are the texts that `wanted` may be known by, the plainest first.
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
    """Results in a fixed order, with frames of polars and of pandas."""

    def _results(self) -> Sequence[T]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._results())

    def __iter__(self) -> Iterator[T]:
        return iter(self._results())

    def _in_short(self, title: str, lines: Sequence[str], more: str) -> str:
        """A `repr` of a title and a line for each result, if they are few."""
        n_shown = len(lines) if len(lines) < _MAX_LINES else _MAX_LINES - 2
        shown = [f"{type(self).__name__}: {title}", *(f"  {line}" for line in lines[:n_shown])]
        if n_shown < len(lines):
            shown.append(f"  and {len(lines) - n_shown} more: see {more}")
        return "\n".join(line if len(line) <= _LINE_WIDTH else f"{line[: _LINE_WIDTH - 1]}…" for line in shown)


class HasFrame:
    """Something with a frame of polars, and therefore of pandas."""

    def to_polars(self) -> polars.DataFrame:
        """A frame of polars."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """What `to_polars` gives, as a frame of pandas (extra `pandas`)."""
        from adhere.frames import as_pandas

        return as_pandas(self.to_polars())
