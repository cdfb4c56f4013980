"""Manage open connections: their number, and how long a client may take for each part of a request."""

import logging
import resource
from collections import OrderedDict
from functools import cache
from typing import Final, Literal, Protocol, TypeAlias

from starlette.types import Scope

from adhere.service.http.problems import ProblemError
from adhere.service.settings import ServiceSettings

_RESERVE = 64  # file descriptors for the store, the log and the event loop
_MOST_DESCRIPTORS = 65_536  # the highest limit to request
_MOST_CONNECTIONS = 4096

log = logging.getLogger("adhere.service")


def raise_limit() -> int:
    """Raise this process's limit of open files as far as allowed, and return the limit."""
    soft, hard = (
        _MOST_DESCRIPTORS if limit == resource.RLIM_INFINITY else limit
        for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    wanted = max(soft, min(hard, _MOST_DESCRIPTORS))
    if wanted > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        except (OSError, ValueError):  # some systems have a lower limit that they do not report
            return soft
    return wanted


def max_connections(wanted: int, workers: int) -> int:
    """Return the maximum of connections for this process: its share of `wanted` (0: many), limited by descriptors."""
    limit = raise_limit()
    allowed = max(limit - _RESERVE, limit // 4)
    share = -(-(wanted or min(allowed, _MOST_CONNECTIONS)) // workers)
    if share > allowed:
        _warn_once(allowed, limit)
    return min(share, allowed)


@cache
def _warn_once(allowed: int, limit: int) -> None:
    log.warning("max_connections: %d in each process, since it may open only %d files", allowed, limit)


# The event that a connection waits for: the client's first request, the rest of a head or body, the next request,
# the client reading the response, or the client closing the connection.
Wait: TypeAlias = Literal["first", "head", "body", "next", "reading", "end"]

_END_SECONDS = 2.0
EXTENSION: Final = "adhere.connection"  # extension of a scope: "authenticate" takes a valid token's number
_SHARE_OF_TOKEN: Final = 2  # a token with more than half of all connections makes room first


class Connection(Protocol):
    """A connection of a client."""

    def waiting(self) -> tuple[Wait, int] | None:
        """Return what the connection waits for, and a number that grows with progress. Return None while a request is
        handled.
        """

    def time_out(self, wait: Wait) -> None:
        """Close the connection because the client took too long."""

    def turn_away(self, problem: ProblemError) -> None:
        """Answer with a problem before any request, and close."""

    def abort(self) -> None:
        """Close the connection at once."""


class Connections:
    """All connections of a process.

    `sweep` is called regularly and enforces time-outs, because a timer per request would cost more. If there are too
    many connections, an idle one is closed to make room for a new one. The first of these that exists is chosen:

    1. a connection of a token that has more than half of all connections;
    2. the oldest connection that has not shown a valid token yet;
    3. a connection of the token with the most connections.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._seconds: dict[Wait, float] = {
            "first": settings.head_timeout,
            "head": settings.head_timeout,
            "body": settings.body_timeout,
            "next": settings.idle_timeout,
            "reading": settings.read_timeout,
            "end": _END_SECONDS,
        }
        self._max = max_connections(settings.max_connections, settings.workers)
        self._since: dict[Connection, tuple[tuple[Wait, int] | None, float]] = {}
        self._strangers: OrderedDict[Connection, None] = OrderedDict()  # no valid token yet; oldest first
        self._token_of: dict[Connection, int] = {}
        self._of_token: dict[int, OrderedDict[Connection, None]] = {}  # least recently used first

    def add(self, connection: Connection) -> None:
        """Add the connection of a client."""
        if len(self._since) >= self._max:
            if (victim := self._to_make_room()) is None:
                detail = f"{self._max} connections are open, all of them with a valid token and a request"
                connection.turn_away(ProblemError("unavailable", detail, retry_after=1))
                return
            self.remove(victim)
            victim.abort()
        self._since[connection] = (None, 0.0)
        self._strangers[connection] = None

    def authenticate(self, connection: Connection, token: int) -> None:
        """Record that a request on this connection had a valid token."""
        if self._token_of.get(connection) == token:
            self._of_token[token].move_to_end(connection)
            return
        if connection not in self._since:  # it was closed in the meantime
            return
        self._disown(connection)
        self._strangers.pop(connection, None)
        self._token_of[connection] = token
        self._of_token.setdefault(token, OrderedDict())[connection] = None

    def remove(self, connection: Connection) -> None:
        """Remove a closed connection."""
        self._since.pop(connection, None)
        self._strangers.pop(connection, None)
        self._disown(connection)

    def _disown(self, connection: Connection) -> None:
        token = self._token_of.pop(connection, None)
        if token is not None:
            owned = self._of_token[token]
            del owned[connection]
            if not owned:
                del self._of_token[token]

    def _to_make_room(self) -> Connection | None:
        """Return the connection to close for a new one, or None if every connection is handling a request."""
        by_size = sorted(self._of_token.values(), key=len, reverse=True)
        greedy = [owned for owned in by_size[:1] if len(owned) > self._max // _SHARE_OF_TOKEN]
        for owned in (*greedy, self._strangers, *by_size):
            for connection in owned:
                if owned is self._strangers or _is_idle(connection):
                    return connection
        return None

    @property
    def sweep_every(self) -> float:
        """Return the seconds between two sweeps."""
        return min(1.0, min(self._seconds.values()) / 2)

    def sweep(self, now: float) -> None:
        """Close the connections that have waited too long."""
        for connection, (before, since) in list(self._since.items()):
            wait = connection.waiting()
            if wait != before:
                self._since[connection] = (wait, now)
            elif wait is not None and now - since >= self._seconds[wait[0]]:
                self._strangers[connection] = None
                self._strangers.move_to_end(connection, last=False)  # the first to make room
                try:
                    connection.time_out(wait[0])
                except (OSError, RuntimeError):  # the client has already disconnected
                    connection.abort()


def _is_idle(connection: Connection) -> bool:
    wait = connection.waiting()
    return wait is not None and wait[0] != "body"  # a request is being handled while its body arrives


def mark_authenticated(scope: Scope, token: int) -> None:
    """Record that the connection of this request has shown a valid token."""
    if connection := scope.get("extensions", {}).get(EXTENSION):
        connection["authenticate"](token)
