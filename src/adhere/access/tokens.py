"""Bearer tokens of a store. They are shown once and stored as digests; they can expire, be rotated and be revoked."""

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from adhere.checks import check_text
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.lookalikes import find_alike
from adhere.store import ReadTransaction, Store
from adhere.store.records import Token
from adhere.store.subjects import sites_of

Role: TypeAlias = Literal["site", "coordinator", "statistician", "admin", "metrics"]
Status: TypeAlias = Literal["valid", "expired", "revoked"]
PREFIX = "adh_"
log = logging.getLogger("adhere.access.tokens")

MAX_OVERLAP = timedelta(days=30)
_MAX_LIFE = timedelta(days=3653)
_WITHOUT_TRIAL = {"admin": "none: an admin is one for every trial", "metrics": "none: metrics name no trial"}


class Tokens:
    """The tokens of a store, cached in memory.

    Other processes may make or revoke tokens, so a running service calls `refresh` every few seconds. It calls
    `write_last_use` every minute, since writing at every request would cost as much as the request.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._tokens: dict[bytes, tuple[Token, float]] = {}  # by digest, with the time of expiry
        self._used: dict[int, float] = {}
        self._lock = threading.Lock()
        self.refresh()

    def refresh(self) -> None:
        """Read all tokens again."""
        with self._lock:
            self._tokens = {token.digest: (token, _end(token)) for token in self.all() if token.revoked_at is None}

    def all(self) -> Sequence[Token]:
        """Return every token of the store, in order of creation."""
        with self._store.reading() as view:
            return view.tokens()

    def find(self, text: bytes) -> Token | None:
        """Return the valid token with this text, or None if the cache has none."""
        found = self._tokens.get(sha256(text).digest())
        if found is None or (now := self._clock()) >= found[1]:
            return None
        self._used[found[0].id] = now
        return found[0]

    def sites(self, trial: str | None) -> set[str]:
        """Return the sites with unrevoked tokens for this trial only (for None: with tokens for all trials)."""
        tokens = (token for token, _ in self._tokens.values() if token.trial == trial)
        return {token.site for token in tokens if token.site is not None}

    def by_id(self, id: int) -> Token | None:  # noqa: A002
        """Return the valid token with this ID, or None if the cache has none."""
        now = self._clock()
        for token, end in self._tokens.values():
            if token.id == id and now < end:
                self._used[id] = now
                return token
        return None

    def is_expired(self, text: bytes) -> bool:
        """Return whether a token with this text exists and has expired."""
        found = self._tokens.get(sha256(text).digest())
        return found is not None and self._clock() >= found[1]

    def status(self, token: Token) -> Status:
        """Return whether a token is valid, expired or revoked."""
        if token.revoked_at is not None:
            return "revoked"
        return "expired" if self._clock() >= _end(token) else "valid"

    def write_last_use(self) -> None:
        """Save when each token was last used, for tokens used since the previous call."""
        used, self._used = self._used, {}
        if used:
            with self._store.writing() as writing:
                for number in sorted(used):  # in a fixed order, so that two processes cannot deadlock
                    writing.save_last_use(number, _text(used[number]))

    def make(
        self,
        role: str,
        label: str,
        *,
        site: str | None = None,
        trial: str | None = None,
        expires_at: datetime | None = None,
        new_site: bool = False,
        by: int | None = None,
    ) -> tuple[Token, str]:
        """Store a new token and return it with its text, which is not stored; `by` is the admin who requests it.

        A site with a name like another site's is refused, unless `new_site` is set.
        """
        if role not in get_args(Role):
            raise InputError("role", role, "site, coordinator, statistician, admin or metrics")
        site = _check_site(role, site)
        trial = None if trial is None else check_text("trial", trial)
        label = check_text("label", label)
        if trial is not None and role in _WITHOUT_TRIAL:
            raise InputError("trial", trial, _WITHOUT_TRIAL[role])
        end = None if expires_at is None else self._check_end(expires_at)
        token, text = self._new(Token(0, b"", role, site, trial, label, "", expires_at=end))
        with self._store.writing() as writing:
            self._check_admin(writing.tokens(), by)
            if trial is not None and trial not in writing.trials():
                raise UnknownError("trial", trial, "the name of a trial")
            if site is not None and not new_site:
                _check_no_look_alike(site, writing)
            token = writing.add_token(token)
        self._note(token)
        return token, text

    def make_first(self, deliver: Callable[[str], None] | None = None) -> str | None:
        """Return the text of a new admin token, which does not expire, or None if the store ever had a token.

        `deliver` is called with the text before the token is stored. If it raises, no token is stored that nobody
        received.
        """
        token, text = self._new(Token(0, b"", "admin", None, None, "the first admin", ""))
        with self._store.writing() as writing:
            writing.wait_turn()  # otherwise two services that start at once would each make a token
            if writing.tokens():
                return None
            token = writing.add_token(token)
            if deliver is not None:
                deliver(text)
        self._note(token)
        return text

    def rotate(
        self,
        id: int,  # noqa: A002
        *,
        overlap: timedelta = timedelta(0),
        expires_at: datetime | None = None,
        by: int | None = None,
    ) -> tuple[Token, str]:
        """Make a new token with the rights and label of a valid token, which becomes invalid after the overlap.

        By default, the new token's lifetime, counted from now, is that of the old one.
        """
        if not timedelta(0) <= overlap <= MAX_OVERLAP:
            raise InputError("overlap", str(overlap), f"a time from 0 to {MAX_OVERLAP.days} days")
        end = None if expires_at is None else self._check_end(expires_at)
        with self._store.writing() as writing:
            writing.wait_turn()
            tokens = writing.tokens()
            self._check_admin(tokens, by)
            old = _the(tokens, id)
            if (status := self.status(old)) != "valid":
                sentence = f"token {id} is {status}; only a valid one can be rotated"
                raise ConflictError("token", id, "a valid token", sentence)
            if end is None and old.expires_at is not None:
                life = datetime.fromisoformat(old.expires_at) - datetime.fromisoformat(old.made_at)
                end = _text(self._clock() + life.total_seconds())
            token, text = self._new(old._replace(expires_at=end, last_used_at=None))
            token = writing.add_token(token)
            at = _text(self._clock() + overlap.total_seconds())
            if overlap:
                writing.expire_token(id, at)
                ended = old._replace(expires_at=min(at, old.expires_at or at))
            else:
                writing.revoke_token(id, at)
                ended = old._replace(revoked_at=at)
        self._note(token, ended)
        return token, text

    def revoke(self, id: int, *, by: int | None = None) -> None:  # noqa: A002
        """Revoke a token. Revoking it again changes nothing. The last valid admin token cannot be revoked."""
        with self._store.writing() as writing:
            writing.wait_turn()  # otherwise two admins could revoke each other at the same time
            tokens = writing.tokens()
            self._check_admin(tokens, by)
            old = _the(tokens, id)
            admins = {token.id: token for token in tokens if token.role == "admin" and self.status(token) == "valid"}
            if list(admins) == [id]:
                sentence = f"token {id} is the only valid one of an admin; make another one first"
                raise ConflictError("token", id, "not the only admin's", sentence)
            writing.revoke_token(id, now := _text(self._clock()))
        self._note(old._replace(revoked_at=now))
        if admins.pop(id, None) and all(token.expires_at for token in admins.values()):
            last = max(token.expires_at or "" for token in admins.values())
            log.warning("every admin token will expire, the last one at %s", last)

    def _check_admin(self, tokens: Sequence[Token], by: int | None) -> None:
        """Refuse an admin whose token another process has just revoked."""
        if by is not None and self.status(_the(tokens, by)) != "valid":
            raise ConflictError("token", by, "a valid token", f"token {by} was revoked or has expired meanwhile")

    def _note(self, *tokens: Token) -> None:
        """Update the cache without reading the store, so that no error can follow a successful write."""
        with self._lock:
            found = self._tokens | {token.digest: (token, _end(token)) for token in tokens}
            self._tokens = {digest: known for digest, known in found.items() if known[0].revoked_at is None}

    def _new(self, like: Token) -> tuple[Token, str]:
        text = PREFIX + secrets.token_urlsafe(32)
        return like._replace(digest=sha256(text.encode()).digest(), made_at=_text(self._clock())), text

    def _check_end(self, expires_at: datetime) -> str:
        if expires_at.tzinfo is None:
            raise InputError("expires_at", expires_at.isoformat(), "a time with its time zone")
        if not 0 < expires_at.timestamp() - self._clock() <= _MAX_LIFE.total_seconds():
            raise InputError("expires_at", expires_at.isoformat(), "a time in the future, within ten years")
        return _text(expires_at.timestamp())


def _check_no_look_alike(site: str, view: ReadTransaction) -> None:
    """Refuse the name of a new site that people could mistake for another site's.

    The known sites are all that ever had a token, or that entered a subject in any trial, including imported trials.
    """
    entered = {site for trial in view.trials().values() for site in sites_of(view, trial) if site}
    known = entered | {token.site for token in view.tokens() if token.site is not None}
    if site not in known and (alike := find_alike(site, sorted(known))) is not None:
        sentence = (
            f"site: there is a site {alike!r}, which looks like {site!r}. Use {alike!r}, or say that this is another "
            "site (new_site)"
        )
        raise ConflictError("site", site, f"{alike!r}, or new_site", sentence)


def _end(token: Token) -> float:
    return math.inf if token.expires_at is None else datetime.fromisoformat(token.expires_at).timestamp()


def _text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _the(tokens: Sequence[Token], id: int) -> Token:  # noqa: A002
    for token in tokens:
        if token.id == id:
            return token
    raise UnknownError("token", id, "the number of a token")


def _check_site(role: str, site: str | None) -> str | None:
    if role != "site":
        if site is not None:
            raise InputError("site", site, "none: only tokens of role site have one")
        return None
    if site is None:
        raise InputError("site", None, "the name of the site", "a token of role site needs the name of the site")
    if "/" in site:
        raise InputError("site", site, "a name without a slash")
    return check_text("site", site)
