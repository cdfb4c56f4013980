"""Derive the state and caches of a trial from its log if an import or another version of the policy left none."""

import logging

from adhere.store import Head, Store, WriteTransaction
from adhere.trial.writing.running_state import block_ends, project, scratch_cache
from adhere.trial.writing.snapshot import decode_snapshot, encode_snapshot, usable_snapshot
from adhere.trial.writing.transaction import LiveTrial

log = logging.getLogger("adhere.trial")
_BLOCKS_AT_ONCE = 32  # blocks per transaction


def derive_caches(store: Store, live: LiveTrial) -> None:
    """Derive a trial's state and caches from its log if this version has none.

    The derivation reads a view and writes a few blocks at a time, so that writers of other trials do not wait.
    Without a state the log cannot grow meanwhile. If another process finishes first, its state and caches are the
    same, and are used.
    """
    with store.reading() as view:
        head = view.head(live.number)
        snapshot = usable_snapshot(live.engine, head)
        if snapshot is not None:
            live.n_examined = snapshot.n_examined
            return
        _warn_of_another_version(live, head)
        with scratch_cache() as scratch:
            projection = project(view, scratch, live.number, live.design, live.engine)
            ends = block_ends(0, head.position)
            for first in range(0, len(ends), _BLOCKS_AT_ONCE):
                some = ends[first : first + _BLOCKS_AT_ONCE]
                with store.writing() as writing:
                    if not _is_underived(writing, live, head):
                        return
                    if first == 0:
                        writing.drop_states(live.number, 0)
                    _copy(scratch, writing, live.number, some)
    state, table = projection.state, projection.table
    if state.refusals:  # the log lacks refusal events, which the next transaction adds
        return
    with store.writing() as writing:
        if _is_underived(writing, live, head):
            derived = encode_snapshot(state, table.n_updates)
            writing.append(live.number, [], head._replace(snapshot=derived))


def _warn_of_another_version(live: LiveTrial, head: Head) -> None:
    last, now = decode_snapshot(head.snapshot), live.engine.algorithm_version
    if last is not None and last.algorithm_version != now:
        log.warning(
            "trial %s: the code of its policy has changed (it was %s, and is %s now); it continues with the new "
            "one, and each recommendation records the version that made it",
            live.design.name, last.algorithm_version, now,
        )  # fmt: skip


def _is_underived(writing: WriteTransaction, live: LiveTrial, head: Head) -> bool:
    """Return whether the head of a trial, which is locked now, is unchanged and still without a state."""
    return writing.lock_and_fetch(live.number, [], [], [])()[0] == head


def _copy(scratch: WriteTransaction, writing: WriteTransaction, trial: int, ends: range) -> None:
    """Copy consecutive blocks of updates and the checkpoints after them."""
    for block in scratch.updates(trial, ends[0] - 1, ends[-1]):
        writing.save_updates(trial, block)
    states = (scratch.state_before(trial, end + 1) for end in ends)
    writing.save_states(trial, [state for state, end in zip(states, ends, strict=True) if state and state[0] == end])
