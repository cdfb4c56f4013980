"""Where a trial stands: its status and its recommendations, from its log alone, without its policy."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from adhere.store import ReadTransaction
from adhere.trial.events import decode
from adhere.trial.history import history_of
from adhere.trial.log.chain import walk
from adhere.trial.snapshot import decode_snapshot

_BATCH = 1000
_STATUS = {"paused": "paused", "resumed": "open", "closed": "closed"}  # after an event


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


def count_open(view: ReadTransaction, trial: int) -> int:
    """How many recommendations still await a report."""
    n_open, end = 0, standing(view, trial).n_recommendations
    for first in range(0, end, _BATCH):
        found = view.histories(trial, range(first, min(first + _BATCH, end)))
        n_open += sum(history_of(map(decode, bodies)).is_open for bodies in found.values())
    return n_open
