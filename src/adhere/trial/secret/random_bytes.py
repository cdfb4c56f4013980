"""Random bytes of the operating system, fetched some thousand at a time."""

from __future__ import annotations

import os
import threading

_AT_ONCE = 4096
_lock = threading.Lock()
_pool, _used = b"", 0


def random_bytes(n: int) -> bytes:
    """Return n random bytes that nobody can guess; for IDs and salts, not for secrets that outlive the process.

    >>> len(random_bytes(10)), random_bytes(10) == random_bytes(10)
    (10, False)
    """
    global _pool, _used
    with _lock:
        if _used + n > len(_pool):
            _pool, _used = os.urandom(max(n, _AT_ONCE)), 0
        _used += n
        return _pool[_used - n : _used]


def _begin_anew() -> None:
    """Let a child process draw its own: it has a copy of what its parent hands out next, and perhaps a taken lock."""
    global _lock, _pool, _used
    _lock, _pool, _used = threading.Lock(), b"", 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
