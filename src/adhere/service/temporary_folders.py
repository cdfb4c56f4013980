"""Folders for temporary files, made again when a cleaner of temporary files has deleted them.

Turns among the processes of a service are locks on files in them, which the system frees however a process ends.
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
    """Return a folder, made again if it is gone; one that somebody else has put there meanwhile is refused."""
    path = Path(folder)
    path.mkdir(0o700, parents=True, exist_ok=True)
    path.chmod(0o700)  # only its owner may do it
    return folder


class TemporaryFolder:
    """A folder that is made when it is first needed, and deleted at the end."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()

    @property
    def path(self) -> str:
        """Its path, always the same, at which there is a folder now."""
        with self._lock:
            if self._made is None:
                self._made = tempfile.TemporaryDirectory(prefix=self._prefix, ignore_cleanup_errors=True)
            return kept(self._made.name)

    def delete(self) -> None:
        """Delete it with all that is in it."""
        if self._made is not None:
            self._made.cleanup()


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
