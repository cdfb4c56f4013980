"""File descriptors: each connection takes one, and a process may have only so many."""

from __future__ import annotations

import logging
from functools import cache

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

_RESERVE = 64  # descriptors for the store, the log and the event loop
_MOST_DESCRIPTORS = 65_536  # that are asked for
_MOST_CONNECTIONS = 4096

log = logging.getLogger("adhere.service")


def raise_limit() -> int:
    """Raise this process's limit of open files as far as it may itself; returns the limit."""
    if resource is None:
        return _MOST_DESCRIPTORS
    soft, hard = (
        _MOST_DESCRIPTORS if limit == resource.RLIM_INFINITY else limit
        for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    wanted = max(soft, min(hard, _MOST_DESCRIPTORS))
    if wanted > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        except (OSError, ValueError):  # some systems have a lower limit that they do not tell
            return soft
    return wanted


def max_connections(wanted: int, workers: int) -> int:
    """How many connections this process may have open: its share of those wanted (0: many) that descriptors allow."""
    limit = raise_limit()
    allowed = max(limit - _RESERVE, limit // 4)
    share = -(-(wanted or min(allowed, _MOST_CONNECTIONS)) // workers)
    if share > allowed:
        _warn_once(allowed, limit)
    return min(share, allowed)


@cache
def _warn_once(allowed: int, limit: int) -> None:
    log.warning("max_connections: %d in each process, since it may open only %d files", allowed, limit)
