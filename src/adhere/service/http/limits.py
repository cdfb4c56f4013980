"""Limit requests: token buckets limit their rate, and counts limit concurrent requests per token and session."""

import time
from collections import defaultdict
from collections.abc import Callable, Hashable

from adhere.service.http.problems import ProblemError

_MAX_BUCKETS = 10_000


class RateLimit:
    """A limit on the requests per second of each key, which allows a burst of requests after a pause.

    >>> limit = RateLimit(rate=1, burst=2, clock=lambda: 0.0)
    >>> [limit.wait("me") for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        # For each key, the time at which its bucket will be full again, which is the bucket's whole state.
        self._full_at: dict[Hashable, float] = {}

    def wait(self, key: Hashable) -> float:
        """Return 0 if a request may pass now, and count it. Otherwise return the seconds until one may pass."""
        now = self._clock()
        full_at = max(self._full_at.get(key, now), now) + 1.0 / self._rate
        late = full_at - now - self._burst / self._rate
        if late > 1e-9:
            return late
        if len(self._full_at) >= _MAX_BUCKETS and key not in self._full_at:
            self._full_at = {known: at for known, at in self._full_at.items() if at > now}
        self._full_at[key] = full_at
        return 0.0

    def refund(self, key: Hashable) -> None:
        """Undo the counting of a request."""
        self._full_at[key] = self._full_at.get(key, self._clock()) - 1.0 / self._rate


class InFlight:
    """The number of open requests of each token and of each of its sessions. Sessions share the token's maximum.

    >>> requests = InFlight(of_token=3, of_session=2)
    >>> [requests.enter(7, "a"), requests.enter(7, "a"), requests.enter(7, "a"), requests.enter(7, "b")]
    [None, None, 'session', None]
    >>> requests.enter(7, "c")
    'token'
    """

    def __init__(self, of_token: int, of_session: int) -> None:
        self._of_token, self._of_session = of_token, of_session
        self._n: defaultdict[Hashable, int] = defaultdict(int)

    def enter(self, token: int, session: str = "") -> str | None:
        """Count one more request. If the token or the session has too many requests, count nothing and return which
        of the two it is.
        """
        if self._n[token] >= self._of_token:
            return "token"
        if session and self._n[session] >= self._of_session:
            return "session"
        for key in (token, session) if session else (token,):
            self._n[key] += 1
        return None

    def leave(self, token: int, session: str = "") -> None:
        """Count the end of a request."""
        for key in (token, session) if session else (token,):
            if self._n[key] == 1:
                del self._n[key]
            else:
                self._n[key] -= 1


class Admission:
    """An admitted request, until it ends."""

    __slots__ = ("_among", "_session", "_streams", "_token")

    def __init__(self, requests: InFlight, streams: InFlight, token: int, session: str) -> None:
        if what := requests.enter(token, session):
            detail = f"too many requests with this {what} are under way; wait for their answers and try again"
            raise ProblemError("too-many", detail, retry_after=1)
        self._among: InFlight | None = requests
        self._streams, self._token, self._session = streams, token, session

    def become_stream(self) -> None:
        """Count the request as an event stream from now on. Refuse it if there are too many streams."""
        if what := self._streams.enter(self._token, self._session):
            detail = f"too many pages with this {what} wait for news; close some of them"
            raise ProblemError("too-many", detail, retry_after=30)  # another stream is possible when a page is closed
        self.end()
        self._among = self._streams

    def end(self) -> None:
        """End the request. A repeated call has no effect."""
        if self._among is not None:
            self._among.leave(self._token, self._session)
            self._among = None
