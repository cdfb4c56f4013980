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
    fields = [("place", "<i8"), ("id", "<i8"), ("chosen", "<i8"), ("feedback", "<i8"), ("reward", "<f8")]
    return Struct(f"<qqqqd{memo_size}d"), np.dtype([*fields, ("memo", "<f8", (memo_size,))])


def pack_row(row: Row) -> bytes:
    """One lesson in bytes."""
    *numbers, memo = row
    return _layout(len(memo))[0].pack(*numbers, *memo)


class LessonArrays(NamedTuple):
    """Lessons as the compiled loop takes them."""

    ids: Any
    chosen: Any
    feedback: Any
    rewards: Any
    memos: Any

    def part(self, start: int, end: int | None = None) -> LessonArrays:
        """Some consecutive lessons of them."""
        return LessonArrays(*(array[start:end] for array in self))


def arrays_of(row: Row) -> LessonArrays:
    """A single lesson."""
    _, number, chosen, feedback, reward, memo = row
    ids, arms, known = np.array([number]), np.array([chosen]), np.array([feedback])
    return LessonArrays(ids, arms, known, np.array([reward]), np.array([memo], np.float64))


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
        names = ("id", "chosen", "feedback", "reward", "memo")
        return LessonArrays(*(np.ascontiguousarray(self.rows[name]) for name in names))

    def without(self, place: int, recommendation_id: int) -> Lessons:
        """All but the lesson of a recommendation at a place (its choice stays)."""
        rows = self.rows
        found = (rows["place"] == place) & (rows["id"] == recommendation_id) & (rows["feedback"] != CHOICE)
        return Lessons(rows[~found].tobytes(), rows.dtype["memo"].shape[0])

    def merged(self, row: Row) -> Lessons:
        """With one more lesson, at its place."""
        at = int(np.searchsorted(self.places, row[0], side="right"))
        data, size = self.rows.tobytes(), self.rows.dtype.itemsize
        return Lessons(data[: at * size] + pack_row(row) + data[at * size :], self.rows.dtype["memo"].shape[0])

    def sorted(self) -> Lessons:
        """In the order of their places."""
        order = np.argsort(self.places, kind="stable")
        return Lessons(self.rows[order].tobytes(), self.rows.dtype["memo"].shape[0])

    def __len__(self) -> int:
        return int(self.rows.size)
