"""The records of a trial that goes on: only what is new in its log is read, and what it is about is read again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

import numpy as np

from adhere.analysis.records import Floats, Records
from adhere.design.design import Design
from adhere.store import ReadTransaction
from adhere.trial.domain.events import decode
from adhere.trial.domain.history import history_of
from adhere.trial.log.records import RecordRows, read_histories, records_of_rows, with_head

_AT_ONCE: Final = 2000


class Renewed(NamedTuple):
    """The records now, when each was made (seconds since 1970), and how many of the first are as the last time."""

    records: Records
    at: Floats
    n_same: int

    @property
    def last_at(self) -> datetime | None:
        """When the last recommendation was made."""
        return datetime.fromtimestamp(float(self.at[-1]), UTC) if len(self.at) else None


class RunningRecords:
    """The records of one trial, kept up to date with its log."""

    def __init__(self, trial: int, design: Design) -> None:
        self._trial, self._design = trial, design
        self._rows, self._position = RecordRows(), 0

    def update(self, view: ReadTransaction) -> Renewed:
        """The records at the head of the log."""
        head, n_same = view.head(self._trial), len(self._rows)
        for number, bodies in self._changed(view):
            row = bisect_left(self._rows.number, number)
            if row == len(self._rows) or self._rows.number[row] != number:
                continue  # it was entered in error
            history = history_of(map(decode, bodies))
            n_same = min(n_same, row)
            if history.in_error:  # all rows behind it move up
                self._rows = RecordRows()
                break
            self._rows.renew(row, history)
        for made, history in read_histories(view, self._trial, len(self._rows) + self._rows.n_in_error):
            self._rows.add(made, history)
        self._position = head.position
        records = with_head(records_of_rows(self._design, self._rows), self._design, head.hash.hex())
        return Renewed(records, np.array(self._rows.at), n_same)

    def _changed(self, view: ReadTransaction) -> Iterator[tuple[int, list[bytes]]]:
        """The recommendations known before that new records are about, with all records about each."""
        changed: set[int] = set()
        while self._position and (found := view.records(self._trial, self._position, _AT_ONCE)):
            changed |= {one.recommendation_index for one in found if one.recommendation_index is not None}
            self._position = found[-1].position
        known = sorted(number for number in changed if number < len(self._rows) + self._rows.n_in_error)
        for start in range(0, len(known), _AT_ONCE):
            yield from view.histories(self._trial, known[start : start + _AT_ONCE]).items()
