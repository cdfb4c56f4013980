"""Tables about access: sessions and one-time links, kept as digests only, and who read what of a trial, when."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from adhere.store.transactions import ReadTransaction, WriteTransaction


class Session(NamedTuple):
    """A session: the digest of its secret, the token whose rights it has, and its end."""

    digest: bytes
    token: int
    expires_at: str


def sessions(view: ReadTransaction) -> Sequence[Session]:
    """All sessions that were not ended."""
    return [Session(*row) for row in view.run("SELECT digest, token, expires_at FROM sessions").fetchall()]


def add_session(writing: WriteTransaction, session: Session, now: str) -> None:
    """Add a session, and delete those that have expired."""
    writing.run("DELETE FROM sessions WHERE expires_at < ?", (now,))
    writing.run("INSERT INTO sessions (digest, token, expires_at) VALUES (?, ?, ?)", session)


def drop_session(writing: WriteTransaction, digest: bytes) -> None:
    """End a session."""
    writing.run("DELETE FROM sessions WHERE digest = ?", (digest,))


def add_link(writing: WriteTransaction, link: Session, now: str) -> None:
    """Add a one-time link, and delete those that have expired."""
    writing.run("DELETE FROM links WHERE expires_at < ?", (now,))
    writing.run("INSERT INTO links (digest, token, expires_at) VALUES (?, ?, ?)", link)


def take_link(writing: WriteTransaction, digest: bytes) -> Session | None:
    """Use a link up; None if it is unknown or was used before."""
    sql = "DELETE FROM links WHERE digest = ? RETURNING digest, token, expires_at"
    found = writing.run(sql, (digest,)).fetchone()
    return Session(*found) if found else None


MAX_ID: Final = 2**62
_ACCESSES = """SELECT accesses.id, at, token, COALESCE(label, ''), kind, recommendation_id, head, n
    FROM accesses LEFT JOIN tokens ON tokens.id = token WHERE accesses.trial = ?"""


class Access(NamedTuple):
    """A read, or several of one kind in ten minutes: `at` is then the beginning of these, and `n` says how many.

    `head` is the hash of the log's last record when the (last) read was written down, so that nothing after it was
    seen.
    """

    id: int
    at: str
    token: int
    label: str  # of the token, also of one that was revoked
    kind: str
    recommendation_id: str | None
    head: bytes
    n: int


def add_access(
    writing: WriteTransaction, trial: int, at: str, token: int, kind: str, recommendation_id: str | None = None
) -> None:
    """Write down a read; one of the same token, trial, kind and time, of no single recommendation, is counted up."""
    # The head is taken by the same statement. A second reader in the same window waits for the first one's row.
    sql = """INSERT INTO accesses (at, token, trial, kind, recommendation_id, head, n)
        SELECT ?, ?, id, ?, ?, hash, 1 FROM trials WHERE id = ?
        ON CONFLICT (token, trial, kind, at) WHERE recommendation_id IS NULL
        DO UPDATE SET n = accesses.n + 1, head = excluded.head"""
    writing.run(sql, (at, token, kind, recommendation_id, trial))


def accesses(view: ReadTransaction, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Access]:
    """The reads of a trial whose numbers are above `after`, in order."""
    sql = f"{_ACCESSES} AND accesses.id > ? ORDER BY accesses.id LIMIT ?"
    return [Access(*row) for row in view.run(sql, (trial, after, limit)).fetchall()]


def accesses_before(view: ReadTransaction, trial: int, before: int, limit: int) -> Sequence[Access]:
    """The reads of a trial whose numbers are below `before`, the newest first."""
    sql = f"{_ACCESSES} AND accesses.id < ? ORDER BY accesses.id DESC LIMIT ?"
    return [Access(*row) for row in view.run(sql, (trial, before, limit)).fetchall()]
