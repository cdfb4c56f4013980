"""Bearer tokens of a store: shown once, kept as digests, revocable at once."""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from adhere.checks import check_text
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.store import Store
from adhere.store.records import Token

Role: TypeAlias = Literal["site", "statistician", "admin", "metrics"]
PREFIX = "adh_"


class Tokens:
    """The tokens of a store, cached in memory.

    Another process may make or revoke a token, so a running service calls `refresh` every few seconds.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tokens: dict[bytes, Token] = {}
        self._lock = threading.Lock()
        self.refresh()

    def refresh(self) -> None:
        """Read all tokens again."""
        with self._lock:
            with self._store.reading() as view:
                tokens = view.tokens()
            self._tokens = {token.digest: token for token in tokens if token.revoked_at is None}

    def find(self, text: bytes) -> Token | None:
        """The token of this text; None if the cache has no such token."""
        return self._tokens.get(sha256(text).digest())

    def make(self, role: str, label: str, *, site: str | None = None, trial: str | None = None) -> tuple[Token, str]:
        """Store a new token and return it with its text, which is not stored."""
        if role not in get_args(Role):
            raise InputError("role", role, "site, statistician, admin or metrics")
        site = _check_site(role, site)
        trial = None if trial is None else check_text("trial", trial)
        label = check_text("label", label)
        if trial is not None and role == "admin":
            raise InputError("trial", trial, "none: an admin is one for every trial")
        if trial is not None and role == "metrics":
            raise InputError("trial", trial, "none: metrics name no trial")
        text = PREFIX + secrets.token_urlsafe(32)
        with self._store.writing() as writing:
            if trial is not None and trial not in writing.trials():
                raise UnknownError("trial", trial, "the name of a trial")
            token = writing.add_token(Token(0, sha256(text.encode()).digest(), role, site, trial, label, _now()))
        self._note(token)
        return token, text

    def make_first(self) -> str | None:
        """The text of a new admin token if the store never had a token, else None."""
        with self._store.reading() as view:
            if view.tokens():
                return None
        return self.make("admin", "the first admin")[1]

    def revoke(self, id: int) -> None:  # noqa: A002
        """Revoke a token; again changes nothing. The last admin's cannot be revoked: nobody could make another."""
        with self._store.writing() as writing:
            writing.wait_turn()  # or two admins that revoke each other at once would both succeed
            tokens = writing.tokens()
            if id not in {token.id for token in tokens}:
                raise UnknownError("token", id, "the number of a token")
            if [token.id for token in tokens if token.role == "admin" and token.revoked_at is None] == [id]:
                raise ConflictError("token", id, "not the only admin's; make another one first")
            writing.revoke_token(id, _now())
        self._note(*(token._replace(revoked_at=_now()) for token in tokens if token.id == id))

    def _note(self, *tokens: Token) -> None:
        """Bring the cache up to date without the store: what was written must not fail any more."""
        with self._lock:
            found = self._tokens | {token.digest: token for token in tokens}
            self._tokens = {digest: token for digest, token in found.items() if token.revoked_at is None}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _check_site(role: str, site: str | None) -> str | None:
    if role != "site":
        if site is not None:
            raise InputError("site", site, f"none: a {role} belongs to no site")
        return None
    if site is None:
        raise InputError("site", "none", "the name of the site")
    if "/" in site:
        raise InputError("site", site, "a name without a slash")
    return check_text("site", site)
