"""What every store does. `tests/store/test_contract.py` and `test_sharing.py` run over all of them.

A store keeps, for each trial, an append-only log of records, the head of that log, and copies of the policy's
state at some places (only a cache). Beside the logs it keeps what must be erasable or revocable and so cannot stand
in a chain of hashes: who the subjects are, free text, and tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from adhere.errors import StoreError as StoreError


class Record(NamedTuple):
    """One line of a trial's log. What stands beside `body` and `hash` is taken from the body, to be found by."""

    position: int
    body: bytes
    hash: bytes
    request: str | None = None
    decision: int | None = None
    subject: str | None = None


class Head(NamedTuple):
    """The end of a trial's log, and what all of the log amounts to."""

    position: int
    hash: bytes
    snapshot: bytes


class Subject(NamedTuple):
    """A person: the pseudonym a site uses, and the key that stands for it in the log."""

    pseudonym: str
    key: str
    salt: bytes
    latest: int | None = None  # the decision of the latest recommendation


class Found(NamedTuple):
    """What a store holds of some requests, decisions and pseudonyms."""

    requests: Mapping[str, bytes]
    cases: Mapping[int, Sequence[bytes]]
    subjects: Mapping[str, Subject]


class Token(NamedTuple):
    """A bearer token, of which only the digest is kept."""

    id: int
    digest: bytes
    role: str
    site: str | None
    trial: str | None
    label: str
    made_at: str
    revoked_at: str | None = None


class Reading(Protocol):
    """A view of everything as it was at one moment."""

    def trials(self) -> Mapping[str, int]:
        """The number of each trial, by name, in the order they were made."""
        ...

    def head(self, trial: int) -> Head:
        """The end of a trial's log."""
        ...

    def records(self, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Record]:
        """The records that follow a position, in order."""
        ...

    def cases(self, trial: int, decisions: Sequence[int], until: int | None = None) -> Mapping[int, Sequence[bytes]]:
        """The bodies of all records about each decision, in order, up to a position."""
        ...

    def subjects(self, trial: int) -> Iterator[Subject]:
        """Every subject that was not erased."""
        ...

    def notes(self, trial: int) -> Mapping[int, tuple[bytes, str]]:
        """Free text by the position of the record it belongs to, each with its salt."""
        ...

    def state_before(self, trial: int, position: int) -> tuple[int, bytes] | None:
        """The latest kept state that stands before a position, and where it stands."""
        ...

    def tokens(self) -> Sequence[Token]:
        """Every token, in the order they were made."""
        ...


class Writing(Reading, Protocol):
    """A transaction: all of it is kept, or nothing. No other writer touches its trials until it ends."""

    def make_trial(self, name: str, head: Head) -> int:
        """Enter a trial; its name must be new."""
        ...

    def lock(self, trial: int) -> Head:
        """Take a trial for this transaction alone; lock several in the order of their numbers."""
        ...

    def find(self, trial: int, requests: Sequence[str], decisions: Sequence[int], pseudonyms: Sequence[str]) -> Found:
        """All that a batch of requests needs to know of the past, at once."""
        ...

    def take(
        self, trial: int, requests: Sequence[str], decisions: Sequence[int], pseudonyms: Sequence[str]
    ) -> Callable[[], tuple[Head, Found]]:
        """`lock` and `find` in one: both are sent off, and waited for when the result is called for."""
        ...

    def append(self, trial: int, records: Sequence[Record], head: Head) -> None:
        """Add records to the log and move its head."""
        ...

    def enrol(self, trial: int, subjects: Sequence[Subject]) -> None:
        """Enter new subjects."""
        ...

    def follow(self, trial: int, subject: Subject) -> None:
        """Note a known subject's latest recommendation."""
        ...

    def erase(self, trial: int, subject: Subject) -> None:
        """Forget a subject's pseudonym and salt, and the free text of the records about their recommendations."""
        ...

    def note(self, trial: int, position: int, salt: bytes, text: str) -> None:
        """Keep free text that belongs to a record."""
        ...

    def keep_state(self, trial: int, position: int, state: bytes) -> None:
        """Keep a copy of the policy's state right after a position."""
        ...

    def drop_states(self, trial: int, from_position: int) -> None:
        """Forget the kept states from a position on."""
        ...

    def add_token(self, token: Token) -> Token:
        """Enter a token; returns it with its number."""
        ...

    def revoke_token(self, id: int, at: str) -> bool:  # noqa: A002  (the field's own name)
        """Revoke a token; False if there is none that is still good."""
        ...


class Store(Protocol):
    """A place for trials. `shared` says whether other processes may write to it, and keep a writer waiting."""

    shared: bool

    def writing(self) -> AbstractContextManager[Writing]:
        """A transaction. When the block ends without an error, all of it is on disk; otherwise nothing is."""
        ...

    def reading(self) -> AbstractContextManager[Reading]:
        """A consistent view, beside which others may write."""
        ...

    def check(self) -> None:
        """Raise a `StoreError` if the store cannot be reached."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
