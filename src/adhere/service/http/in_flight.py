"""Requests and event streams under way, counted for each token and each session, up to a maximum."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from adhere.service.http.problems import ProblemError

_RETRY_SECONDS: Final = 1
_RETRY_STREAM_SECONDS: Final = 30  # a place is free once a page is closed


class InFlight:
    """How many are under way for each token, and for each session of it; so many sessions share the token's maximum.

    >>> requests = InFlight(of_token=3, of_session=2)
    >>> [requests.enter(7, "a"), requests.enter(7, "a"), requests.enter(7, "a"), requests.enter(7, "b")]
    [None, None, 'session', None]
    >>> requests.enter(7, "c")
    'token'
    """

    def __init__(self, of_token: int, of_session: int) -> None:
        self._of_token, self._of_session = of_token, of_session
        self._n: dict[Hashable, int] = {}

    def enter(self, token: int, session: str = "") -> str | None:
        """Count one more; returns what has too many under way, if it does, and then nothing is counted."""
        n = self._n
        of_token = n.get(token, 0)
        if of_token >= self._of_token:
            return "token"
        if session:
            of_session = n.get(session, 0)
            if of_session >= self._of_session:
                return "session"
            n[session] = of_session + 1
        n[token] = of_token + 1
        return None

    def leave(self, token: int, session: str = "") -> None:
        """One of them has ended."""
        for key in (token, session) if session else (token,):
            if self._n[key] == 1:
                del self._n[key]
            else:
                self._n[key] -= 1


class Admission:
    """A request that was let in, until it ends."""

    __slots__ = ("_among", "_session", "_streams", "_token")

    def __init__(self, requests: InFlight, streams: InFlight, token: int, session: str) -> None:
        if what := requests.enter(token, session):
            detail = f"too many requests with this {what} are under way; wait for their answers and try again"
            raise ProblemError("too-many", detail, headers={"retry-after": str(_RETRY_SECONDS)})
        self._among: InFlight | None = requests
        self._streams, self._token, self._session = streams, token, session

    def become_stream(self) -> None:
        """Count it among the event streams from now on; refused if there are too many."""
        if what := self._streams.enter(self._token, self._session):
            detail = f"too many pages with this {what} wait for news; close some of them"
            raise ProblemError("too-many", detail, headers={"retry-after": str(_RETRY_STREAM_SECONDS)})
        self.end()
        self._among = self._streams

    def end(self) -> None:
        """The request was answered; to say so again changes nothing."""
        if self._among is not None:
            self._among.leave(self._token, self._session)
            self._among = None
