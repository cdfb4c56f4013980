"""One run at a time in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from adhere.errors import InputError

_LOCK = ".lock"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make the folder, if need be, and keep other runs out of it; a folder that is still empty goes again.

    The system drops the lock of a process that is killed, so that its file blocks nobody.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _locked(folder):
            try:
                yield
            finally:
                # While the lock is held: whoever opened this file before must not take it for the one to lock.
                (folder / _LOCK).unlink(missing_ok=True)
    finally:
        if made:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # Windows, which has no such locks
        yield
        return
    while True:
        with (folder / _LOCK).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                expected = "a folder that no other run is writing into (wait for it, or take another folder)"
                raise InputError("out", str(folder), expected) from None
            if _is_at(file, folder / _LOCK):
                yield
                return


def _is_at(file: IO[str], path: Path) -> bool:
    """Whether this is still the file of that name: another run may have ended, and removed it, since we opened it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
