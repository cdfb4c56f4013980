"""A trial's state as stored with the head of its log: a cache, which can be derived from the log at any time."""

from __future__ import annotations

import msgspec
import numpy as np

from adhere.design.design import Design
from adhere.store import Head
from adhere.trial.domain.counts import Counts
from adhere.trial.domain.state import TrialState
from adhere.trial.looks.look_state import LookState
from adhere.trial.looks.looker import looker_of
from adhere.trial.policy.engine import Engine, Floats


class Snapshot(msgspec.Struct, frozen=True, array_like=True):
    """What is stored of a trial's state; histories are in the log."""

    policy_state: bytes
    algorithm_version: str
    n_lessons: int = 0
    n_recommendations: int = 0
    status: str = "open"
    n_examined: int = 0
    n_changes: int = 0  # of lessons in the table
    looks: LookState | None = None
    counts: Counts = Counts()
    commitments: tuple[str, ...] = ("",)
    is_revealed: bool = False
    reopened: tuple[int, ...] = ()
    has_sites: bool = False


def snapshot_of(state: TrialState, n_lessons: int = 0, n_changes: int = 0) -> Snapshot:
    """What is to be stored of a state."""
    return Snapshot(
        state.policy_state.tobytes(),
        state.engine.algorithm_version,
        n_lessons,
        state.n_recommendations,
        state.status,
        state.n_examined,
        n_changes,
        state.looks,
        state.counts,
        state.commitments,
        state.is_revealed,
        state.reopened,
        state.has_sites,
    )


def encode_snapshot(state: TrialState, n_lessons: int = 0, n_changes: int = 0) -> bytes:
    """For the store."""
    return msgspec.msgpack.encode(snapshot_of(state, n_lessons, n_changes))


def decode_snapshot(data: bytes) -> Snapshot | None:
    """From the store; None if it is missing or damaged and must be derived from the log."""
    try:
        return msgspec.msgpack.decode(data, type=Snapshot)
    except msgspec.DecodeError:
        return None


def usable_snapshot(engine: Engine, head: Head) -> Snapshot | None:
    """The snapshot at the head of a log; None if it must be derived again, as after a change of the algorithm."""
    snapshot = decode_snapshot(head.snapshot)
    if snapshot is None or snapshot.algorithm_version != engine.algorithm_version:
        return None
    return snapshot


def restored_state(design: Design, engine: Engine, snapshot: Snapshot, position: int) -> TrialState:
    """The state that was stored at a position."""
    return TrialState(
        design,
        engine,
        floats_from(snapshot.policy_state),
        position,
        snapshot.status,
        snapshot.n_recommendations,
        snapshot.n_examined,
        looker=None if snapshot.looks is None else looker_of(design, engine),
        looks=snapshot.looks,
        counts=snapshot.counts,
        commitments=snapshot.commitments,
        is_revealed=snapshot.is_revealed,
        reopened=snapshot.reopened,
        has_sites=snapshot.has_sites,
    )


def floats_from(data: bytes) -> Floats:
    """A policy's state from its bytes."""
    return np.frombuffer(data, dtype=np.float64).copy()
