"""Tables about access: sessions and one-time links (only as digests), and the access log, which records who read
what, and when.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from adhere.store.transactions import ReadTransaction, WriteTransaction


class Session(NamedTuple):
    """A session: the digest of its secret, the token that gives its rights, and its expiry time."""

    digest: bytes
    token: int
    expires_at: str


def sessions(view: ReadTransaction) -> Sequence[Session]:
    """Return all sessions that were not ended."""
    return [Session(*row) for row in view.run("SELECT digest, token, expires_at FROM sessions").fetchall()]


def add_session(writing: WriteTransaction, session: Session, now: str) -> None:
    """Add a session, and delete expired ones."""
    writing.run("DELETE FROM sessions WHERE expires_at < ?", (now,))
    writing.run("INSERT INTO sessions (digest, token, expires_at) VALUES (?, ?, ?)", session)


def drop_session(writing: WriteTransaction, digest: bytes) -> None:
    """End a session."""
    writing.run("DELETE FROM sessions WHERE digest = ?", (digest,))


def add_link(writing: WriteTransaction, link: Session, now: str) -> None:
    """Add a one-time link, and delete expired ones."""
    writing.run("DELETE FROM links WHERE expires_at < ?", (now,))
    writing.run("INSERT INTO links (digest, token, expires_at) VALUES (?, ?, ?)", link)


def take_link(writing: WriteTransaction, digest: bytes) -> Session | None:
    """Use up a link. Return None if it is unknown or was already used."""
    sql = "DELETE FROM links WHERE digest = ? RETURNING digest, token, expires_at"
    found = writing.run(sql, (digest,)).fetchone()
    return Session(*found) if found else None


MAX_ID: Final = 2**62
_ACCESSES = """SELECT accesses.id, at, token, COALESCE(label, ''), kind, recommendation_id, head, n
    FROM accesses LEFT JOIN tokens ON tokens.id = token WHERE accesses.trial = ?"""


class Access(NamedTuple):
    """A read, or several reads of one kind within ten minutes.

    `at` is the beginning of the ten minutes, and `n` is the number of reads. `head` is the hash of the log's last
    record when the (last) read was recorded; the reader saw nothing after it.
    """

    id: int
    at: str
    token: int
    label: str  # the token's label, even if the token was revoked
    kind: str
    recommendation_id: str | None
    head: bytes
    n: int


def add_access(
    writing: WriteTransaction, trial: int, at: str, token: int, kind: str, recommendation_id: str | None = None
) -> None:
    """Record a read. Reads that name no recommendation and agree in token, trial, kind and time share one row, which
    counts them.
    """
    # The same statement reads the head. A second reader in the same window waits for the first one's row.
    sql = """INSERT INTO accesses (at, token, trial, kind, recommendation_id, head, n)
        SELECT ?, ?, id, ?, ?, hash, 1 FROM trials WHERE id = ?
        ON CONFLICT (token, trial, kind, at) WHERE recommendation_id IS NULL
        DO UPDATE SET n = accesses.n + 1, head = excluded.head"""
    writing.run(sql, (at, token, kind, recommendation_id, trial))


def accesses(view: ReadTransaction, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Access]:
    """Return the reads of a trial with numbers above `after`, in order."""
    sql = f"{_ACCESSES} AND accesses.id > ? ORDER BY accesses.id LIMIT ?"
    return [Access(*row) for row in view.run(sql, (trial, after, limit)).fetchall()]


def accesses_before(view: ReadTransaction, trial: int, before: int, limit: int) -> Sequence[Access]:
    """Return the reads of a trial with numbers below `before`, newest first."""
    sql = f"{_ACCESSES} AND accesses.id < ? ORDER BY accesses.id DESC LIMIT ?"
    return [Access(*row) for row in view.run(sql, (trial, before, limit)).fetchall()]
