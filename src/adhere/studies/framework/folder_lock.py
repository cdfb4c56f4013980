"""One run at a time in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from adhere.errors import InputError

_LOCK = ".lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Make the folder, if need be, and exclude other runs from it; if it is still empty at the end, remove it again.

    The system releases the lock of a process that is killed, so that the file it leaves blocks nobody.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / _LOCK)
    try:
        try:
            # A short wait: a run that is just ending removes the file, and then there is another one to lock.
            lock.acquire(timeout=0.2)
        except Timeout:
            expected = "a folder that no other run is writing into (wait for it, or take another folder)"
            raise InputError("out", str(folder), expected) from None
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes it with the lock
                (folder / _LOCK).unlink()
            lock.release()
    finally:
        if made:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
