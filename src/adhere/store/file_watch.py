"""See when a database's files are no longer those that were opened, or were overwritten: what is written is lost."""

import os
import struct
from pathlib import Path
from typing import TypeAlias

from adhere.errors import StoreError
from adhere.store.database_file import LOCK, SHM, WAL, beside

_VERSION = 3007000  # of the index, the same since there are logs
_INDEX = struct.Struct("=I10xHI4xII8s")  # version, page size, number of frames, checksum of the last, salts
_CHECKSUM = struct.Struct(">II")
_HEADER, _FRAME_HEADER, _SALTS = 32, 24, slice(16, 24)


class WriteAheadLog:
    """The log of an open database, looked at by the process that writes it, between its transactions.

    When the index is closed, the system drops all locks that SQLite has on it in this process: so this is closed only
    after the database.
    """

    def __init__(self, log: Path, index: Path) -> None:
        self._log = os.open(log, os.O_RDONLY)
        self._index = os.open(index, os.O_RDONLY)
        self._salts, self._at, self._frame = b"", 0, b""

    def is_whole(self) -> bool:
        """Whether its header, the frame that was the last at the last look, and the last one are there.

        What was written over other frames only is not seen.
        """
        try:
            version, page_size, n_frames, first, second, salts = _INDEX.unpack(os.pread(self._index, _INDEX.size, 0))
            if version != _VERSION or not n_frames:  # without frames all is in the database
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
        """Close it; the database must be closed already."""
        os.close(self._log)
        os.close(self._index)


_Stat: TypeAlias = tuple[int, int, int, int]  # device, inode, size, time of the last change
_IDENTITY = slice(0, 2)


class FileWatch:
    """Watches a database's file, and for its writer what is beside it. The first fault counts for good.

    Nothing but the writer's own transactions may change the database or its write-ahead log.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._name, self._log_name = path, str(path), str(beside(path, WAL))
        self._left = {self._name: _stat(self._name)}
        self._log: WriteAheadLog | None = None
        self._fault = ""
        self.overwritten = False  # whether that is the fault

    def watch_writer(self) -> None:
        """Watch the write-ahead log and what else is kept beside the file too, from now on."""
        log, index = beside(self._path, WAL), beside(self._path, SHM)
        self._log = WriteAheadLog(log, index)
        for path in (self._path, log, index, beside(self._path, LOCK)):
            self._left[str(path)] = _stat(str(path))
        self.after_transaction()

    def before_transaction(self) -> None:
        """Raise a `StoreError` if the log is not as the last transaction left it.

        Within a transaction this is not known, since a large one goes to the log before its commit.
        """
        if self._log is not None:
            self._compare(self._log_name, content=True)
        self._raise()

    def before_commit(self) -> None:
        """Raise a `StoreError` if what is committed would not be found again, or if another process could write."""
        for name in self._left:
            self._compare(name, content=name == self._name)
        self._raise()

    def after_transaction(self) -> None:
        """See whether the log holds what was committed, in the files that were opened; `fault` says so."""
        if self._log is None:  # a reader, which could write nothing
            return
        if not self._log.is_whole():
            self._see(f"{self._log_name} was overwritten", overwritten=True)
        self.remember()

    def remember(self) -> None:
        """Take the database and its log as they are: SQLite itself may have moved the one into the other."""
        for name in (self._name, self._log_name):
            self._left[name] = self._compare(name)

    def check(self) -> None:
        """Raise a `StoreError` if one of the files is another, or if there was a fault before."""
        for name in self._left:
            self._compare(name)
        self._raise()

    @property
    def fault(self) -> str:
        """The fault that was seen, as a sentence; empty if all is well."""
        return self._fault and (
            f"{self._fault} while it was in use, and nothing more is written: put the right file in its place, then "
            "stop the service and start it again"
        )

    def close(self) -> None:
        """Watch no more; the database must be closed already."""
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
    except OSError:  # not even the folder may be reached
        return (-1, -1, -1, -1)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
