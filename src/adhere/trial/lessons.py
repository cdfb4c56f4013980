"""Lessons: what a policy learns from a trial, in the order of the log, as plain numbers.

Every lesson has a *place*, the position of the record that first reported it; a correction changes the lesson and
leaves its place. One row is a place, a recommendation, the arm chosen, the feedback (see `policies.generic`), the
reward, and the recommendation's memo. The feedback CHOICE stands for the choice itself, which changes the state of a
policy that recycles outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

CHOICE: Final = -1
Row: TypeAlias = tuple[int, int, int, int, float, tuple[float, ...]]


@lru_cache
def _layout(memo_size: int) -> tuple[Struct, np.dtype[Any]]:
    fields = [("place", "<i8"), ("facts", "<i8", (3,)), ("values", "<f8", (1 + memo_size,))]
    return Struct(f"<qqqqd{memo_size}d"), np.dtype(fields)


def pack_row(row: Row) -> bytes:
    """One lesson in bytes."""
    *numbers, memo = row
    return _layout(len(memo))[0].pack(*numbers, *memo)


class LessonArrays(NamedTuple):
    """Lessons as the compiled loop takes them, one row each."""

    facts: Any  # recommendation, arm chosen, feedback
    values: Any  # reward, then the memo

    def part(self, start: int, end: int | None = None) -> LessonArrays:
        """Some consecutive lessons of them."""
        return LessonArrays(self.facts[start:end], self.values[start:end])


class Lessons:
    """Consecutive lessons of a log, in the order of their places.

    >>> Lessons.of([(7, 0, 1, 1, 1.0, (0.5,))], memo_size=1).places.tolist()
    [7]
    """

    def __init__(self, data: bytes, memo_size: int) -> None:
        self.rows = np.frombuffer(data, _layout(memo_size)[1])

    @classmethod
    def of(cls, rows: Sequence[Row], memo_size: int) -> Lessons:
        """From plain rows."""
        return cls(b"".join(map(pack_row, rows)), memo_size)

    @property
    def places(self) -> Any:
        """Where in the log each lesson stands."""
        return self.rows["place"]

    def arrays(self) -> LessonArrays:
        """For the compiled loop."""
        return LessonArrays(np.ascontiguousarray(self.rows["facts"]), np.ascontiguousarray(self.rows["values"]))

    def without(self, place: int, recommendation_id: int) -> Lessons:
        """All but the lesson of a recommendation at a place (its choice stays)."""
        facts = self.rows["facts"]
        found = (self.places == place) & (facts[:, 0] == recommendation_id) & (facts[:, 2] != CHOICE)
        return self._of(self.rows[~found].tobytes())

    def merged(self, row: Row) -> Lessons:
        """With one more lesson, at its place."""
        at, size = int(np.searchsorted(self.places, row[0], side="right")), self.rows.dtype.itemsize
        data = self.rows.tobytes()
        return self._of(data[: at * size] + pack_row(row) + data[at * size :])

    def sorted(self) -> Lessons:
        """In the order of their places."""
        return self._of(self.rows[np.argsort(self.places, kind="stable")].tobytes())

    def _of(self, data: bytes) -> Lessons:
        return Lessons(data, self.rows.dtype["values"].shape[0] - 1)

    def __len__(self) -> int:
        return int(self.rows.size)
