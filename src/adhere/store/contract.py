"""What every store does. `tests/store/test_contract.py` and `test_sharing.py` run over all of them.

A store keeps an append-only log of records for each trial, and the head of that log. Beside the log stand two caches,
which can be deleted and are rebuilt from it: checkpoints of the policy's state, and the table of lessons. What must
be erasable or revocable cannot be part of a hash chain and is kept apart: pseudonyms, free text, tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from adhere.errors import StoreError as StoreError


class Record(NamedTuple):
    """One record of a trial's log. The fields after `hash` repeat parts of the body, as keys to look it up by."""

    position: int
    body: bytes
    hash: bytes
    request_id: str | None = None
    recommendation_id: int | None = None
    subject: str | None = None


class Head(NamedTuple):
    """The end of a trial's log, and a snapshot of the state there."""

    position: int
    hash: bytes
    snapshot: bytes


class Subject(NamedTuple):
    """A person: the pseudonym a site uses, and the key that replaces it in the log."""

    pseudonym: str
    key: str
    salt: bytes
    latest: int | None = None  # id of the latest recommendation


class LessonBlock(NamedTuple):
    """Lessons, packed: the position of the last record they may come from, how many, and their bytes."""

    position: int
    n: int
    data: bytes


class Fetched(NamedTuple):
    """What a store holds of some request ids, recommendations and pseudonyms."""

    requests: Mapping[str, bytes]
    histories: Mapping[int, Sequence[bytes]]
    subjects: Mapping[str, Subject]


class Token(NamedTuple):
    """A bearer token, of which only the digest is stored."""

    id: int
    digest: bytes
    role: str
    site: str | None
    trial: str | None
    label: str
    made_at: str
    revoked_at: str | None = None


class ReadTransaction(Protocol):
    """A consistent view of the store at one moment."""

    def trials(self) -> Mapping[str, int]:
        """The number of each trial by name, in order of creation."""
        ...

    def head(self, trial: int) -> Head:
        """The end of a trial's log."""
        ...

    def records(self, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Record]:
        """The records after a position, in order."""
        ...

    def histories(
        self, trial: int, recommendation_ids: Sequence[int], until: int | None = None
    ) -> Mapping[int, Sequence[bytes]]:
        """The bodies of all records about each recommendation, in order, up to a position."""
        ...

    def subjects(self, trial: int) -> Iterator[Subject]:
        """Every subject that was not erased."""
        ...

    def notes(self, trial: int) -> Mapping[int, tuple[bytes, str]]:
        """Salt and free text by the position of the record they belong to."""
        ...

    def state_before(self, trial: int, position: int) -> tuple[int, bytes] | None:
        """The last checkpoint before a position: its position and the policy's state."""
        ...

    def lessons(self, trial: int, after: int, until: int) -> Sequence[LessonBlock]:
        """The blocks of lessons after one position and up to another, in order."""
        ...

    def count_lessons(self, trial: int) -> int:
        """The number of lessons in the table."""
        ...

    def tokens(self) -> Sequence[Token]:
        """Every token, in order of creation."""
        ...


class WriteTransaction(ReadTransaction, Protocol):
    """A transaction: all of it is committed or nothing. No other writer touches its trials until it ends."""

    def add_trial(self, name: str, head: Head) -> int:
        """Add a trial under a new name; returns its number."""
        ...

    def lock_and_fetch(
        self, trial: int, request_ids: Sequence[str], recommendation_ids: Sequence[int], pseudonyms: Sequence[str]
    ) -> Callable[[], tuple[Head, Fetched]]:
        """Lock a trial until the end of the transaction and look up what a batch of commands needs.

        The queries are sent at once and waited for when the result is called. Lock several trials in the order of
        their numbers.
        """
        ...

    def append(self, trial: int, records: Sequence[Record], head: Head) -> None:
        """Add records to the log and move its head."""
        ...

    def add_subjects(self, trial: int, subjects: Sequence[Subject]) -> None:
        """Add new subjects."""
        ...

    def set_latest(self, trial: int, subject: Subject) -> None:
        """Save a known subject's latest recommendation."""
        ...

    def erase(self, trial: int, subject: Subject) -> None:
        """Delete a subject's pseudonym and salt, and the free text of the records about their recommendations."""
        ...

    def save_note(self, trial: int, position: int, salt: bytes, text: str) -> None:
        """Save the free text that belongs to a record."""
        ...

    def save_state(self, trial: int, position: int, state: bytes) -> None:
        """Save a checkpoint: the policy's state right after a position."""
        ...

    def drop_states(self, trial: int, from_position: int) -> None:
        """Delete the checkpoints from a position on."""
        ...

    def save_lessons(self, trial: int, block: LessonBlock) -> None:
        """Save a block of lessons, in place of the one at the same position."""
        ...

    def drop_lessons(self, trial: int, after: int, until: int) -> None:
        """Delete the blocks that `lessons` would return."""
        ...

    def add_token(self, token: Token) -> Token:
        """Add a token; returns it with its id."""
        ...

    def revoke_token(self, id: int, at: str) -> bool:  # noqa: A002  (the field's own name)
        """Revoke a token; False if no valid token has this id."""
        ...


class Store(Protocol):
    """A place for trials. `shared` is true if other processes may write to it, and so make a writer wait."""

    shared: bool

    def writing(self) -> AbstractContextManager[WriteTransaction]:
        """A transaction. When the block ends without an error, all of it is on disk; otherwise nothing is."""
        ...

    def reading(self) -> AbstractContextManager[ReadTransaction]:
        """A consistent view, while others may write."""
        ...

    def check(self) -> None:
        """Raise a `StoreError` if the store cannot be reached."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...
