"""Bearer tokens: shown once, kept as digests, revocable at once."""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime
from hashlib import sha256

from adhere.errors import ConflictError, InputError, UnknownError
from adhere.service.bodies import NewToken
from adhere.store import Store, Token
from adhere.trial.checks import checked_text

PREFIX = "adh_"


class Holder:
    """Who asks: what of a token matters to a request."""

    __slots__ = ("by", "id", "role", "site", "trial")

    def __init__(self, token: Token) -> None:
        self.id, self.role, self.site, self.trial = token.id, token.role, token.site, token.trial
        self.by = f"token {token.id}"


class Tokens:
    """The tokens of a store, held in memory.

    Another process may make or revoke one, so somebody calls `refresh` every few seconds.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._holders: dict[bytes, Holder] = {}
        self._turn = threading.Lock()
        self.refresh()

    def refresh(self) -> None:
        """Read all tokens again."""
        with self._turn:
            with self._store.reading() as view:
                tokens = view.tokens()
            self._holders = {token.digest: Holder(token) for token in tokens if token.revoked_at is None}

    def holder(self, token: bytes) -> Holder | None:
        """Who holds a token, as far as is known here."""
        return self._holders.get(sha256(token).digest())

    def make(self, asked: NewToken) -> tuple[Token, str]:
        """Enter a new token; the text is not kept and cannot be had again."""
        site = _checked_site(asked)
        trial = None if asked.trial is None else checked_text("trial", asked.trial)
        label = checked_text("label", asked.label)
        if trial is not None and asked.role == "admin":
            raise InputError("trial", trial, "none: an admin is one for every trial")
        text = PREFIX + secrets.token_urlsafe(32)
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        with self._store.writing() as writing:
            if trial is not None and trial not in writing.trials():
                raise UnknownError("trial", trial, "the name of a trial")
            digest = sha256(text.encode()).digest()
            token = writing.add_token(Token(0, digest, asked.role, site, trial, label, made_at))
        self.refresh()
        return token, text

    def revoke(self, id: int) -> None:  # noqa: A002
        """Make a token useless; again changes nothing. The only admin's stays, or nobody could make another."""
        with self._store.writing() as writing:
            tokens = writing.tokens()
            if id not in {token.id for token in tokens}:
                raise UnknownError("token", id, "the number of a token")
            if [token.id for token in tokens if token.role == "admin" and token.revoked_at is None] == [id]:
                raise ConflictError("token", id, "not the only admin's; make another one first")
            writing.revoke_token(id, datetime.now(UTC).isoformat(timespec="seconds"))
        self.refresh()

    def first(self) -> str | None:
        """An admin token for a store that never had any; None if it has."""
        with self._store.reading() as view:
            if view.tokens():
                return None
        return self.make(NewToken(role="admin", label="the first admin"))[1]


def _checked_site(asked: NewToken) -> str | None:
    if asked.role != "site":
        if asked.site is not None:
            raise InputError("site", asked.site, f"none: a {asked.role} belongs to no site")
        return None
    if asked.site is None:
        raise InputError("site", "none", "the name of the site")
    if "/" in asked.site:
        raise InputError("site", asked.site, "a name without a slash")
    return checked_text("site", asked.site)
