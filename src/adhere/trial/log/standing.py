"""Where a trial stands: its status and its number of recommendations, from its log alone, without its policy."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from adhere.store import ReadTransaction
from adhere.trial.log.chain import walk
from adhere.trial.snapshot import decode_snapshot

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
