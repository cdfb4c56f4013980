"""Store a trial's state with the head of its log. It is a cache that can always be derived from the log."""

from __future__ import annotations

from collections import OrderedDict
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec
import numpy as np

from adhere.design.design import Design
from adhere.store import Head, ReadTransaction
from adhere.trial.domain.events import created_event, decode
from adhere.trial.domain.evolve import evolve
from adhere.trial.domain.history import Counts
from adhere.trial.domain.log_records import walk
from adhere.trial.domain.look_state import LookState
from adhere.trial.domain.looker import looker_of
from adhere.trial.domain.state import NoPolicy, TrialState, initial_state
from adhere.trial.policy.engine import Engine, Floats

_MAX_CACHED = 32
_derived: Final[OrderedDict[bytes, TrialSummary]] = OrderedDict()  # by the hash of a log's last record


class Snapshot(msgspec.Struct, frozen=True, array_like=True):
    """A trial's state as stored. Histories are in the log."""

    policy_state: bytes
    algorithm_version: str
    n_updates: int = 0
    n_recommendations: int = 0
    status: str = "open"
    n_examined: int = 0
    looks: LookState | None = None
    counts: Counts = Counts()
    commitments: tuple[str, ...] = ("",)
    is_revealed: bool = False
    reopened: tuple[int, ...] = ()
    has_sites: bool = False


_KEPT = Snapshot.__struct_fields__[3:]  # fields with the same names as in the state
_kept = attrgetter(*_KEPT)


def snapshot_of(state: TrialState, n_updates: int = 0) -> Snapshot:
    """Return the snapshot of a state."""
    version = state.engine.algorithm_version
    return Snapshot(state.policy_state.tobytes(), version, n_updates, *_kept(state))


def encode_snapshot(state: TrialState, n_updates: int = 0) -> bytes:
    """Encode a state's snapshot for the store."""
    return msgspec.msgpack.encode(snapshot_of(state, n_updates))


def decode_snapshot(data: bytes) -> Snapshot | None:
    """Decode a stored snapshot. Return None if it is missing or damaged and must be derived from the log."""
    try:
        return msgspec.msgpack.decode(data, type=Snapshot)
    except msgspec.DecodeError:
        return None


def usable_snapshot(engine: Engine, head: Head) -> Snapshot | None:
    """Return the snapshot at the head of a log, or None if it is missing or was made by another algorithm version."""
    snapshot = decode_snapshot(head.snapshot)
    if snapshot is None or snapshot.algorithm_version != engine.algorithm_version:
        return None
    return snapshot


def restored_state(design: Design, engine: Engine, snapshot: Snapshot, position: int) -> TrialState:
    """Return the state that was stored at a position."""
    looker = None if snapshot.looks is None else looker_of(design, engine)
    kept = dict(zip(_KEPT, _kept(snapshot), strict=True))
    return TrialState(design, engine, floats_from(snapshot.policy_state), position, looker=looker, **kept)


def floats_from(data: bytes) -> Floats:
    """Return a policy's state from its bytes."""
    return np.frombuffer(data, dtype=np.float64).copy()


class TrialSummary(NamedTuple):
    """A trial's status, the number of its recommendations, and counts of them."""

    status: str
    n_recommendations: int
    counts: Counts


def summary_of(view: ReadTransaction, trial: int) -> TrialSummary:
    """Return the summary stored with the head of the log. If there is none, derive it from the log."""
    head = view.head(trial)
    found = decode_snapshot(head.snapshot) or _derived.get(head.hash)
    if found is None:
        created = created_event(view, trial)
        state = initial_state(created.design, NoPolicy(created.keys()))
        for record in walk(view, trial):
            state = evolve(state, decode(record.body))
        found = TrialSummary(state.status, state.n_recommendations, state.counts)
        _derived[head.hash] = found  # the snapshot of a closed trial is never stored again
        while len(_derived) > _MAX_CACHED:
            _derived.popitem(last=False)
    return TrialSummary(found.status, found.n_recommendations, found.counts)
