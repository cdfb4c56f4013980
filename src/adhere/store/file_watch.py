"""Detect when a database's files were replaced or overwritten while open, in which case writes would be lost."""

import os
import struct
from pathlib import Path
from typing import TypeAlias

from adhere.errors import StoreError
from adhere.store.database_file import LOCK, SHM, WAL, beside

_VERSION = 3007000  # of the index, unchanged since SQLite has write-ahead logs
_INDEX = struct.Struct("=I10xHI4xII8s")  # version, page size, number of frames, checksum of the last, salts
_CHECKSUM = struct.Struct(">II")
_HEADER, _FRAME_HEADER, _SALTS = 32, 24, slice(16, 24)


class WriteAheadLog:
    """The write-ahead log of an open database, inspected by its writing process between transactions.

    When the index is closed, the system drops all locks that SQLite has on it in this process. Close this object only
    after the database.
    """

    def __init__(self, log: Path, index: Path) -> None:
        self._log = os.open(log, os.O_RDONLY)
        self._index = os.open(index, os.O_RDONLY)
        self._salts, self._at, self._frame = b"", 0, b""

    def is_whole(self) -> bool:
        """Return whether the log's header, its last frame, and the frame that was last at the previous check are
        intact.

        Overwritten frames in between are not detected.
        """
        try:
            version, page_size, n_frames, first, second, salts = _INDEX.unpack(os.pread(self._index, _INDEX.size, 0))
            if version != _VERSION or not n_frames:  # without frames, all data are in the database
                return True
            page_size = page_size & 0xFE00 | (page_size & 1) << 16
            at = _HEADER + (n_frames - 1) * (_FRAME_HEADER + page_size)
            frame = os.pread(self._log, _FRAME_HEADER, at)
            whole = (
                os.pread(self._log, _HEADER, 0)[_SALTS] == salts
                and frame[8:] == salts + _CHECKSUM.pack(first, second)
                and (salts != self._salts or os.pread(self._log, _FRAME_HEADER, self._at) == self._frame)
            )
        except (OSError, struct.error):
            return False
        self._salts, self._at, self._frame = salts, at, frame
        return whole

    def close(self) -> None:
        """Close the log. The database must be closed already."""
        os.close(self._log)
        os.close(self._index)


_Stat: TypeAlias = tuple[int, int, int, int]  # device, inode, size, time of the last change
_IDENTITY = slice(0, 2)


class FileWatch:
    """A watch on a database's file and, for its writer, the files beside it. The first fault is permanent.

    Only the writer's own transactions may change the database or its write-ahead log.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._name, self._log_name = path, str(path), str(beside(path, WAL))
        self._left = {self._name: _stat(self._name)}
        self._log: WriteAheadLog | None = None
        self._fault = ""
        self.overwritten = False  # whether the fault is that a file was overwritten

    def watch_writer(self) -> None:
        """Watch the write-ahead log and the other files beside the database too, from now on."""
        log, index = beside(self._path, WAL), beside(self._path, SHM)
        self._log = WriteAheadLog(log, index)
        for path in (self._path, log, index, beside(self._path, LOCK)):
            self._left[str(path)] = _stat(str(path))
        self.after_transaction()

    def before_transaction(self) -> None:
        """Raise `StoreError` if the log is not as the last transaction left it.

        This cannot be checked within a transaction, because a large one is written to the log before its commit.
        """
        if self._log is not None:
            self._compare(self._log_name, content=True)
        self._raise()

    def before_commit(self) -> None:
        """Raise `StoreError` if the data of a commit would be lost, or if another process could write."""
        for name in self._left:
            self._compare(name, content=name == self._name)
        self._raise()

    def after_transaction(self) -> None:
        """Check whether the log in the opened files contains the committed data, and record a fault otherwise."""
        if self._log is None:  # a reader cannot write
            return
        if not self._log.is_whole():
            self._see(f"{self._log_name} was overwritten", overwritten=True)
        self.remember()

    def remember(self) -> None:
        """Accept the current database and log: SQLite itself may have moved data from the log into the database."""
        for name in (self._name, self._log_name):
            self._left[name] = self._compare(name)

    def check(self) -> None:
        """Raise `StoreError` if one of the files was replaced, or if there was a fault before."""
        for name in self._left:
            self._compare(name)
        self._raise()

    @property
    def fault(self) -> str:
        """The message about the first fault found, or an empty text if there is no fault."""
        return self._fault and (
            f"{self._fault} while it was in use, so nothing more is written: put the right file in its place, then "
            "stop the service and start it again"
        )

    def close(self) -> None:
        """Stop watching. The database must be closed already."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def _compare(self, name: str, *, content: bool = False) -> _Stat:
        now, left = _stat(name), self._left[name]
        if now[_IDENTITY] != left[_IDENTITY]:
            self._see(f"{name} was deleted, moved or replaced")
        elif content and now != left:
            self._see(f"{name} was overwritten", overwritten=True)
        return now

    def _see(self, fault: str, *, overwritten: bool = False) -> None:
        if not self._fault:
            self._fault, self.overwritten = fault, overwritten

    def _raise(self) -> None:
        if self._fault:
            raise StoreError(self.fault)


def _stat(name: str) -> _Stat:
    try:
        found = os.stat(name)  # noqa: PTH116  (twice as fast; this is asked at every commit)
    except OSError:  # even the folder may be unreachable
        return (-1, -1, -1, -1)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
