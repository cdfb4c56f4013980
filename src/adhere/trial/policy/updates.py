"""Updates: the facts that a policy learns from a trial, in the order of the log, as plain numbers.

Each update has a *place*: the position of the record that first reported it. A correction changes the update but not
its place, so that no two updates share a place. A row consists of the place, the recommendation, the arm chosen, the
feedback (see `policies.base.generic`), the reward and the recommendation's memo. The feedback CHOICE marks a choice
that itself changes the policy's state: an outcome is recycled, or the arm uses a place in a block of the burn-in.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

CHOICE: Final = -1
Row: TypeAlias = tuple[int, int, int, int, float, tuple[float, ...]]


class UpdateArrays(NamedTuple):
    """Arrays of updates for the compiled loop, with one row per update."""

    facts: Any  # recommendation, arm chosen, feedback
    values: Any  # reward, then the memo

    def part(self, start: int, end: int | None = None) -> UpdateArrays:
        """Return consecutive updates, from `start` to before `end`."""
        return UpdateArrays(self.facts[start:end], self.values[start:end])


@lru_cache
def _layout(memo_size: int) -> tuple[Struct, np.dtype[Any]]:
    fields = [("place", "<i8"), ("facts", "<i8", (3,)), ("values", "<f8", (1 + memo_size,))]
    return Struct(f"<qqqqd{memo_size}d"), np.dtype(fields)


def pack(row: Row) -> bytes:
    """Pack one update into bytes."""
    *numbers, memo = row
    return _layout(len(memo))[0].pack(*numbers, *memo)


def join(updates: Mapping[int, bytes]) -> bytes:
    """Join packed updates in the order of their places."""
    return b"".join(updates[place] for place in sorted(updates))


def changed(data: bytes, place: int, row: Row | None, memo_size: int) -> bytes:
    """Return packed updates with one update changed or added, or removed if `row` is None.

    >>> one, other = pack((7, 1, 0, 0, 0.0, ())), pack((9, 0, 1, 1, 1.0, ()))
    >>> changed(changed(one, 9, (9, 0, 1, 1, 1.0, ()), 0), 7, None, 0) == other
    True
    """
    layout, kind = _layout(memo_size)
    places = np.frombuffer(data, kind)["place"]
    at = int(np.searchsorted(places, place))
    behind = at + int(at < len(places) and places[at] == place)
    return data[: at * layout.size] + (b"" if row is None else pack(row)) + data[behind * layout.size :]


def count(data: bytes, memo_size: int) -> int:
    """Return the number of updates packed in bytes."""
    return len(data) // _layout(memo_size)[0].size


def split(data: bytes, memo_size: int) -> dict[int, bytes]:
    """Split packed updates by place.

    >>> split(join({9: pack((9, 0, 1, 1, 1.0, ())), 7: pack((7, 1, 0, 0, 0.0, ()))}), memo_size=0).keys()
    dict_keys([7, 9])
    """
    layout, kind = _layout(memo_size)
    places = np.frombuffer(data, kind)["place"].tolist()
    return {place: data[i * layout.size : (i + 1) * layout.size] for i, place in enumerate(places)}


def arrays(data: bytes, memo_size: int) -> UpdateArrays:
    """Unpack updates for the compiled loop."""
    rows = np.frombuffer(data, _layout(memo_size)[1])
    return UpdateArrays(np.ascontiguousarray(rows["facts"]), np.ascontiguousarray(rows["values"]))
