"""The values that a store contains.

A store contains an append-only log of records for each trial, and the head of that log. Two caches beside the log can
be deleted and rebuilt from it: checkpoints of the policy's state, and the table of updates. Some data must be
erasable, revocable or secret, so they cannot be part of a hash chain: pseudonyms, free text, tokens, and the secrets
that draw arms. They are stored separately.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adhere.lookalikes import fold


class Record(NamedTuple):
    """One record of a trial's log. The fields after `hash` repeat parts of the body as keys for look-ups."""

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
    """A person: the pseudonym that a site uses, and the key that replaces it in the log."""

    pseudonym: str
    key: str
    salt: bytes
    latest: int | None = None  # index of the latest recommendation

    @property
    def folded(self) -> str:
        """The folded code, by which similar codes are found.

        Only the code is folded, without the site before it. Codes are compared within one site: the same code at
        another site names another person, and no site is shown another site's codes.
        """
        return fold(self.pseudonym.partition("/")[2])


class UpdateBlock(NamedTuple):
    """A block of packed updates: the position of the last record that it covers, the number of updates, and their
    bytes.
    """

    position: int
    n: int
    data: bytes


class Fetched(NamedTuple):
    """The rows of a store that were looked up by request IDs, recommendations and pseudonyms."""

    requests: Mapping[str, bytes]
    histories: Mapping[int, Sequence[bytes]]
    subjects: Mapping[str, Subject]


class Installation(NamedTuple):
    """The identity of a store, which every copy shares, and the writer or place that it belongs to."""

    store_id: str
    opening: str  # of the writer that last took possession, or of PostgreSQL's tables; empty in a backup
    is_open: bool  # whether that writer is still active


class Token(NamedTuple):
    """A bearer token. Only its digest is stored."""

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
