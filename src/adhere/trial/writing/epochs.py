"""New epochs: where records may have been lost, arms are drawn by a fresh secret from then on.

Arms of lost records were seen by those they were recommended to. Drawn again by the same secret they would come out
the same, and could be predicted.
"""

from __future__ import annotations

from datetime import datetime

from adhere.store import Head, Store, WriteTransaction
from adhere.trial.domain.chain import link
from adhere.trial.domain.events import EpochBegun, created_event, encode, to_record
from adhere.trial.secret.trial_secret import commitment_to, new_secret
from adhere.trial.writing.snapshot import summary_of

_RESTORED = "the store was copied or restored: records after the copy may have been lost"


def begin_epochs_after_restore(store: Store, at: datetime) -> None:
    """Begin new epochs in a store that is not as its last writer left it; does nothing in any other."""
    if store.was_restored:
        begin_epochs(store, at, _RESTORED)


def begin_epochs(
    store: Store, at: datetime, reason: str, n_lost: int | None = None, by: str = "", *, always: bool = False
) -> int:
    """Take possession of a store, and begin a new epoch in every trial that is not closed; returns how many.

    If the store is in possession already, since another process was faster, nothing is done unless `always`.
    """
    with store.writing() as writing:
        writing.wait_turn()
        if not writing.take_possession() and not always:
            return 0
        open_trials = [
            number
            for number in writing.trials().values()
            if created_event(writing, number).is_live and summary_of(writing, number).status != "closed"
        ]
        for number in open_trials:
            begin_epoch(writing, number, at, reason, n_lost, by)
    return len(open_trials)


def begin_epoch(
    writing: WriteTransaction, trial: int, at: datetime, reason: str, n_lost: int | None = None, by: str = ""
) -> None:
    """Append the beginning of an epoch to a trial's log. Its policy is not needed: caches are derived later."""
    secret, head = new_secret(), writing.lock_and_fetch(trial, [], [], [])()[0]
    commitment = commitment_to(secret)
    writing.save_secret(trial, commitment, secret)
    event = EpochBegun(position=head.position + 1, at=at, by=by, commitment=commitment, reason=reason, n_lost=n_lost)
    body = encode(event)
    digest = link(head.hash, body)
    writing.append(trial, [to_record(event, body, digest)], Head(event.position, digest, b""))
