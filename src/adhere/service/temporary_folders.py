"""Temporary folders that are made again after a cleaner of temporary files has deleted them.

Processes of a service take turns by locking files in these folders. The system releases such a lock however a
process ends.
"""

import fcntl
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def kept(folder: str) -> str:
    """Return a folder, and make it again if it was deleted. A folder that somebody else has made there is refused."""
    path = Path(folder)
    path.mkdir(0o700, parents=True, exist_ok=True)
    path.chmod(0o700)  # fails unless this user owns the folder
    return folder


class TemporaryFolder:
    """A temporary folder that is made when it is first needed and deleted at the end."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()

    @property
    def path(self) -> str:
        """Return the path, which is always the same, after making sure that the folder exists."""
        with self._lock:
            if self._made is None:
                self._made = tempfile.TemporaryDirectory(prefix=self._prefix, ignore_cleanup_errors=True)
            return kept(self._made.name)

    def delete(self) -> None:
        """Delete the folder and its contents."""
        if self._made is not None:
            self._made.cleanup()


_POLL_SECONDS = 0.02


def try_lock(lock: IO[bytes]) -> bool:
    """Lock a file and return True, or return False if another process has locked it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def turn(file: Path | None, patience: float) -> Iterator[None]:
    """Lock a temporary file for the block. After `patience` seconds, or without a file, continue without the lock."""
    if file is None:
        yield
        return
    kept(str(file.parent))
    with file.open("wb") as lock:
        until = time.monotonic() + patience
        while not try_lock(lock) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        yield
