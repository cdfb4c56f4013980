"""See when a database's files are no longer those that were opened, or were overwritten: what is written is lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from adhere.errors import StoreError
from adhere.store.database_file import LOCK, SHM, WAL, beside
from adhere.store.write_ahead_log import WriteAheadLog

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
        """What was seen, as a sentence; empty if all is well."""
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
