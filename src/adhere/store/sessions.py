"""Sessions of people in a browser, and the one-time links by which they sign in; of both only digests are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
