"""Where a trial stands: its status, its recommendations, what is awaited; from its log alone, without its policy."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

import msgspec

from adhere.store import ReadTransaction
from adhere.trial.domain.counts import Counts, evolve_counts
from adhere.trial.domain.events import decode
from adhere.trial.domain.history import history_of
from adhere.trial.log.chain import walk
from adhere.trial.writing.snapshot import decode_snapshot

_BATCH = 1000
_STATUS = {"paused": "paused", "resumed": "open", "closed": "closed"}  # after an event
_MAX_CACHED = 32
_counted: Final[OrderedDict[bytes, Counts]] = OrderedDict()  # by the hash of a log's last record


class Standing(NamedTuple):
    """A trial's status and the number of its recommendations."""

    status: str
    n_recommendations: int


class _Kind(msgspec.Struct):
    event: str


def standing(view: ReadTransaction, trial: int) -> Standing:
    """As stored with the head of the log; counted in the log where nothing is stored, as after an import."""
    snapshot = decode_snapshot(view.head(trial).snapshot)
    if snapshot is not None:
        return Standing(snapshot.status, snapshot.n_recommendations)
    status, n_recommendations = "open", 0
    kind_of = msgspec.json.Decoder(_Kind).decode
    for record in walk(view, trial):
        event = kind_of(record.body).event
        status = _STATUS.get(event, status)
        n_recommendations += event == "recommended"
    return Standing(status, n_recommendations)


def counts_of(view: ReadTransaction, trial: int) -> Counts:
    """Counts of what is awaited and who complied, as stored with the head; counted anew if nothing is stored."""
    head = view.head(trial)
    snapshot = decode_snapshot(head.snapshot)
    if snapshot is not None:
        return snapshot.counts
    if (counts := _counted.get(head.hash)) is None:
        counts = _counted[head.hash] = _count(view, trial)  # a trial that was closed is never stored anew
        while len(_counted) > _MAX_CACHED:
            _counted.popitem(last=False)
    return counts


def _count(view: ReadTransaction, trial: int) -> Counts:
    counts, end = Counts(), standing(view, trial).n_recommendations
    for first in range(0, end, _BATCH):
        for bodies in view.histories(trial, range(first, min(first + _BATCH, end))).values():
            counts = evolve_counts(counts, None, history_of(map(decode, bodies)))
    return counts
