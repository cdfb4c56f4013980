"""The contract of every store. `tests/store/test_contract.py` and `test_sharing.py` run over all of them."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path

from adhere.store.secret_file import SecretFile
from adhere.store.transactions import ReadTransaction, WriteTransaction

DEADLINE = 10.0  # seconds for which the server of a database may be silent while an answer is due


class Store(ABC):
    """A place for trials.

    `shared` is true if other processes may write to it, and so make a writer wait. `location` is what `open_store`
    opens it by in another process; None for one in memory. `secret_file` is where the secrets of trials are kept, if
    not in the store itself.

    `was_restored` is true if the store, opened to write, is not what the last writer left in this place: it was
    copied or restored. It stays true until a transaction in which `take_possession` was called is committed.

    `n_lost` is the number of acknowledged records that were missing when the store was opened to write (None: it
    cannot be known). Unless it is 0, a store is opened only if the caller accepts the loss.
    """

    shared: bool
    location: str | Path | None
    secret_file: SecretFile | None = None
    was_restored = False
    n_lost: int | None = 0

    @abstractmethod
    def writing(self, *, waits: bool = True) -> AbstractContextManager[WriteTransaction]:
        """A transaction. When the block ends without an error, all of it is on disk.

        Otherwise nothing is, unless the error is an `OutcomeUnknownError`. If `waits` is false and another writer has
        locked the store, a store that is not `shared` raises a `StoreBusyError` before the block begins.
        """

    @abstractmethod
    def reading(self) -> AbstractContextManager[ReadTransaction]:
        """A consistent view, while others may write."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    def discard(self) -> None:
        """Close it after what it was opened for was refused; a file made for that is deleted."""
        self.close()

    def check(self) -> None:
        """Raise a `StoreError` if the store cannot be reached."""
        with self.reading() as view:
            view.trials()
