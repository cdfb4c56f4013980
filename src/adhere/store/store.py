"""The contract of every store. `tests/store/test_contract.py` and `test_sharing.py` test all stores against it."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path

from adhere.store.secret_file import SecretFile
from adhere.store.transactions import ReadTransaction, WriteTransaction

DEADLINE = 10.0  # seconds for which a database server may be silent while an answer is due


class Store(ABC):
    """A place for trials.

    `shared` is true if other processes may write to the store, so that a writer may have to wait. `location` opens
    the store in another process with `open_store`; it is None for a store in memory. `secret_file` contains the
    secrets of trials, if they are not in the store itself.

    `was_restored` is true if the store, opened for writing, is not what the last writer left in this place: it was
    copied or restored. It stays true until a transaction that called `take_possession` is committed. `n_lost` is the
    number of acknowledged records that were missing when the store was opened for writing (None: unknown). Unless it
    is 0, a store is opened only if the caller accepts the loss.
    """

    shared: bool
    location: str | Path | None
    secret_file: SecretFile | None = None
    was_restored = False
    n_lost: int | None = 0

    @abstractmethod
    def writing(self, *, waits: bool = True) -> AbstractContextManager[WriteTransaction]:
        """Open a transaction. When the block ends without an error, everything is on disk.

        If the block or the commit fails, nothing is written. Only an `OutcomeUnknownError` means that the commit may
        have succeeded. If `waits` is false and another writer has locked the store, a store that is not `shared`
        raises `StoreBusyError` before the block begins.
        """

    @abstractmethod
    def reading(self) -> AbstractContextManager[ReadTransaction]:
        """Open a consistent view while others may write."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    def discard(self) -> None:
        """Close the store after its purpose was refused, and delete a file created for it."""
        self.close()

    def check(self) -> None:
        """Raise `StoreError` if the store cannot be reached."""
        with self.reading() as view:
            view.trials()
