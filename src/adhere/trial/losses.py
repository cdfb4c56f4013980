"""Go on after acknowledged records were lost."""

from __future__ import annotations

from adhere.store import Store


def record_loss(store: Store, n_lost: int | None, reason: str) -> None:
    """Take possession of a store that was opened in spite of a loss of `n_lost` records (None: unknown).

    The events that record the loss and its reason in the logs of the trials belong into the same transaction.
    """
    with store.writing() as writing:
        writing.take_possession()
        # HERE: append the events, for each trial of the store. Until then `n_lost` and `reason` are not stored.
        del n_lost, reason
