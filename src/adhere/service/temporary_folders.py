"""Folders for temporary files, made again when a cleaner of temporary files has deleted them."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path


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
