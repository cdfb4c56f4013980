"""A database's file on the disk: made for its owner only, with one writer, and refused once it is another file."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import TypeAlias

import filelock

from adhere.errors import StoreError
from adhere.files import make_private

log = logging.getLogger("adhere.store")

WAL, SHM, LOCK = "-wal", "-shm", "-writer"


def beside(path: Path, suffix: str) -> Path:
    """The file that SQLite or the writer's lock keeps beside a database."""
    return path.with_name(path.name + suffix)


def followed(path: Path) -> Path:
    """The file that a path leads to: a link gets the lock and the write-ahead log of the file it points to."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle
        raise StoreError(f"{path} cannot be reached: its links lead nowhere") from None


def has_wal(path: Path) -> bool:
    """Whether a write-ahead log holds something; a reader may leave an empty one."""
    try:
        return beside(path, WAL).stat().st_size > 0
    except OSError:
        return False


def check_path(path: Path, *, must_exist: bool) -> None:
    """Refuse a path that cannot be a database's."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder: give the name of a file in it")
        if must_exist and not path.is_file():
            raise StoreError(f"{path} does not exist")
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be written: no such directory")
    except OSError as error:
        raise StoreError(f"{path} cannot be reached: {error.strerror}") from None


def lock_writer(path: Path) -> filelock.BaseFileLock:
    """The writer's lock: a file beside the database, which the system unlocks when the process ends."""
    lock = filelock.FileLock(beside(path, LOCK), timeout=0, mode=0o600)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise StoreError(
            f"{path} is being written by another process. One process writes to a SQLite file at a time: stop that "
            "one, or let several serve from PostgreSQL (--database-url)."
        ) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
    return lock


def make_file(path: Path) -> None:
    """Make the file before SQLite does, which would let others read it; its -wal and -shm get the same mode.

    A file that is there keeps its mode: its owner may have let others in.
    """
    try:
        if not path.exists() and has_wal(path):
            raise StoreError(
                f"{path} does not exist, but {path.name}{WAL} does: the file was deleted or moved. Put it back, or "
                "restore a backup (adhere trial restore); for a new one, delete what is left of the old one first."
            )
        make_private(path)
    except FileExistsError:
        found = path.stat()
        if found.st_nlink > 1:
            raise StoreError(
                f"{path} is a file with {found.st_nlink} names (hard links), of which each would get a write-ahead "
                "log of its own: delete the others"
            ) from None
        if found.st_mode & stat.S_IROTH:
            mode = f"{stat.S_IMODE(found.st_mode):04o}"
            log.warning("%s can be read by every user of this machine (mode %s): chmod 600 it", path, mode)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None


class FileWatch:
    """Sees when files are no longer those that were opened: deleted, moved, or others put in their place.

    What is written from then on would be lost, so that the first sight of it counts for good. The writer also sees
    that the database was overwritten in place, as `cp` does: nothing but its own commits may change it.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._name = path, str(path)
        self._files = [_seen(path)]
        self._content: tuple[int, int] | None = None
        self._beside: list[tuple[str, _Identity]] = []
        self._gone = ""

    def watch_writer(self) -> None:
        """Watch what is kept beside the file too, from now on."""
        self._files.append(_seen(beside(self._path, WAL)))
        self._beside = [_seen(beside(self._path, suffix)) for suffix in (SHM, LOCK)]
        self._content = _content(self._name)

    def before_commit(self) -> None:
        """Raise a `StoreError` if what is committed would not be found again. This costs some microseconds."""
        if not self._gone and _content(self._name) != self._content:
            self._gone = self._name
        self.check_data()

    def after_commit(self) -> None:
        """The same; a commit may have moved the write-ahead log into the database."""
        self._content = _content(self._name)
        self.check_data()

    def check_data(self) -> None:
        """Raise a `StoreError` if the database or its write-ahead log is another file."""
        if not self._gone:
            self._gone = next((name for name, known in self._files if _identity(name) != known), "")
        if self._gone:
            raise StoreError(
                f"{self._gone} was deleted, moved or replaced while it was in use, and nothing more is written: put "
                "the right file in its place, then stop the service and start it again"
            )

    def check_all(self) -> None:
        """The same, or if another process could come to write too."""
        if not self._gone:
            self._gone = next((name for name, known in self._beside if _identity(name) != known), "")
        self.check_data()


_Identity: TypeAlias = tuple[int, int]


def _seen(path: Path) -> tuple[str, _Identity]:
    return str(path), _identity(str(path))


def _content(name: str) -> tuple[int, int]:
    """What differs once a file was written to."""
    try:
        found = os.stat(name)  # noqa: PTH116
    except OSError:
        return (-1, -1)
    return found.st_size, found.st_mtime_ns


def _identity(name: str) -> _Identity:
    try:
        found = os.stat(name)  # noqa: PTH116  (twice as fast; this is asked at every commit)
    except OSError:  # not even the folder may be reached
        return (-1, -1)
    return found.st_dev, found.st_ino
