"""Turns among the processes of a service: a lock on a file, which the system frees however a process ends."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from adhere.service.temporary_folders import kept

_POLL_SECONDS = 0.02


def try_lock(lock: IO[bytes]) -> bool:
    """Lock a file; False if another has locked it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def turn(file: Path | None, patience: float) -> Iterator[None]:
    """Wait for the lock of a temporary file and hold it; after `patience` seconds, or without a file, do without."""
    if file is None:
        yield
        return
    kept(str(file.parent))
    with file.open("wb") as lock:
        until = time.monotonic() + patience
        while not try_lock(lock) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        yield
