"""Browser sessions, opened with a token or a one-time link; a session has the rights of its token.

A session is identified by a secret in a cookie; the store contains only the secret's digest. A session ends when it
expires, when its token becomes invalid, or when somebody signs out.
"""

import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256

from adhere.access.tokens import Tokens
from adhere.errors import ConflictError, UnknownError
from adhere.store import Store
from adhere.store.access import Session, add_link, add_session, drop_session, sessions, take_link
from adhere.store.records import Token

LINK_PREFIX = "lnk_"
LINK_FRAGMENT = "#link="  # precedes the secret in a link, since browsers do not send fragments


class Sessions:
    """The sessions of a store, cached in memory; `refresh` reads changes made by other processes."""

    def __init__(self, store: Store, tokens: Tokens, hours: float, clock: Callable[[], float] = time.time) -> None:
        self._store, self._tokens, self._seconds, self._clock = store, tokens, hours * 3600, clock
        self._sessions: dict[bytes, Session] = {}
        self._lock = threading.Lock()
        self.refresh()

    def refresh(self) -> None:
        """Read all sessions again."""
        with self._lock, self._store.reading() as view:
            self._sessions = {session.digest: session for session in sessions(view)}

    def open(self, token: Token) -> str:
        """Open a session with the rights of a token, and return its secret."""
        secret = secrets.token_urlsafe(32)
        session = Session(_digest(secret), token.id, self._in(self._seconds))
        with self._store.writing() as writing:
            add_session(writing, session, self._in(0))
        with self._lock:
            self._sessions = self._sessions | {session.digest: session}
        return secret

    def find(self, secret: str) -> Token | None:
        """Return the valid token of a session, or None if the session or its token does not exist or has ended."""
        session = self._sessions.get(_digest(secret))
        if session is None or session.expires_at <= self._in(0):
            return None
        return self._tokens.by_id(session.token)

    def close(self, secret: str) -> None:
        """End a session."""
        with self._store.writing() as writing:
            drop_session(writing, _digest(secret))
        with self._lock:
            self._sessions = {key: session for key, session in self._sessions.items() if key != _digest(secret)}

    def make_link(self, token: int, minutes: float) -> tuple[str, str]:
        """Make a one-time link for the holder of a valid token, and return its secret and expiry time."""
        self._tokens.refresh()
        if self._tokens.by_id(token) is None:
            if any(known.id == token for known in self._tokens.all()):
                raise ConflictError("token", token, "a valid token", f"token {token} was revoked or has expired")
            raise UnknownError("token", token, "the number of a token")
        text, end = LINK_PREFIX + secrets.token_urlsafe(32), self._in(minutes * 60)
        with self._store.writing() as writing:
            add_link(writing, Session(_digest(text), token, end), self._in(0))
        return text, end

    def take_link(self, text: str) -> Token | None:
        """Use up a one-time link and return its valid token, or None if it was used before or has expired."""
        with self._store.writing() as writing:
            link = take_link(writing, _digest(text))
        if link is None or link.expires_at <= self._in(0):
            return None
        self._tokens.refresh()
        return self._tokens.by_id(link.token)

    def _in(self, seconds: float) -> str:
        """Return the time `seconds` from now. All such texts have the same length, so they compare like times."""
        return datetime.fromtimestamp(self._clock() + seconds, UTC).isoformat(timespec="milliseconds")


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
