"""The values that a store keeps.

A store keeps an append-only log of records for each trial, and the head of that log. Beside the log stand two caches,
which can be deleted and are rebuilt from it: checkpoints of the policy's state, and the table of updates. What must
be erasable, revocable or secret cannot be part of a hash chain and is kept apart: pseudonyms, free text, tokens, the
secrets that draw arms.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adhere.lookalikes import fold


class Record(NamedTuple):
    """One record of a trial's log. The fields after `hash` repeat parts of the body, as keys to look it up by."""

    position: int
    body: bytes
    hash: bytes
    request_id: str | None = None
    recommendation_index: int | None = None
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
    latest: int | None = None  # index of the latest recommendation

    @property
    def folded(self) -> str:
        """The folded code, by which those that look like it are found.

        The site in front of it is left out. Its codes are its own: L-001 of another site is another person, and no
        site is shown the codes of another, even if their names are alike, which an admin was asked about.
        """
        return fold(self.pseudonym.partition("/")[2])


class UpdateBlock(NamedTuple):
    """Updates, packed: the position of the last record they may come from, how many, and their bytes."""

    position: int
    n: int
    data: bytes


class Fetched(NamedTuple):
    """Rows of a store about some request ids, recommendations and pseudonyms."""

    requests: Mapping[str, bytes]
    histories: Mapping[int, Sequence[bytes]]
    subjects: Mapping[str, Subject]


class Installation(NamedTuple):
    """The identity of a store, which every copy of it shares, and the writer or place that it belongs to."""

    store_id: str
    opening: str  # of the writer that took possession last, or of PostgreSQL's tables; empty in a backup
    is_open: bool  # whether that writer has not closed it


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
    expires_at: str | None = None
    last_used_at: str | None = None
