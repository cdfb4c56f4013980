"""Trials in one SQLite file, or in memory. One process writes; others may read at any time.

Durability: write-ahead log with `synchronous=FULL`, so that a commit returns only once its bytes are on the disk.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adhere.store.contract import Reading, StoreError, Writing
from adhere.store.sql import Dialect, SqlWriting, migrate

_TYPES = {
    "bytes": "BLOB",
    "number": "INTEGER",
    "counter": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "clustered": " WITHOUT ROWID",
}
_PAGES_BEFORE_CHECKPOINT = 4000  # 16 MB of write-ahead log: checkpoints are seldom, and restarts read little


class SqliteStore:
    """A file of trials (`None`: in memory, gone when closed).

    Opened to write, it takes a lock beside the file that the system releases when the process ends, however it ends.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self._path = path
        self._lock_file: Any = None
        # The writer, and in memory everybody, shares one connection.
        self._turn = threading.RLock()
        if path is not None and not read_only:
            self._lock_file = _locked(path)
        try:
            if path is not None and read_only and not path.is_file():
                raise StoreError(f"{path} is no file")
            self._connection = self._connect(read_only)
            if not read_only:
                with self._transaction(self._connection, "BEGIN IMMEDIATE"):
                    migrate(_dialect(self._connection), str(path or "this store"))
            else:
                self._connection.execute("SELECT version FROM adhere_schema").fetchone()
        except sqlite3.Error as error:
            self._unlock()
            raise StoreError(f"{path} cannot be opened as a file of trials: {error}") from None
        except StoreError:
            self._unlock()
            raise

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        name = (
            ":memory:" if self._path is None else f"{self._path.absolute().as_uri()}{'?mode=ro' if read_only else ''}"
        )
        connection = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False, timeout=30.0)
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_BEFORE_CHECKPOINT}")
        return connection

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """A transaction. When the block ends without an error, all of it is on disk; otherwise nothing is."""
        with self._turn, self._transaction(self._connection, "BEGIN IMMEDIATE"):
            yield SqlWriting(_dialect(self._connection))

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A consistent view, beside which others may write."""
        if self._path is None:
            with self._turn:
                yield SqlWriting(_dialect(self._connection))
            return
        connection = self._connect(read_only=True)
        try:
            with self._transaction(connection, "BEGIN"):
                yield SqlWriting(_dialect(connection))
        finally:
            connection.close()

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection, begin: str) -> Iterator[None]:
        try:
            connection.execute(begin)
            yield
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise StoreError(f"{self._path or 'the store in memory'}: {error}") from error
            raise

    def check(self) -> None:
        """Raise a `StoreError` if the file cannot be read."""
        with self.reading() as view:
            view.trials()

    def backup(self, to: Path) -> None:
        """Copy everything, as of one moment, into a file of its own; others may go on writing."""
        copy = sqlite3.connect(to)
        try:
            with self._turn:
                self._connection.backup(copy)
        except sqlite3.Error as error:
            raise StoreError(f"{to}: {error}") from None
        finally:
            copy.close()

    def close(self) -> None:
        """Close the file and let another process write to it."""
        with self._turn:
            self._connection.close()
            self._unlock()

    def _unlock(self) -> None:
        if self._lock_file is not None:
            self._lock_file.close()


def _dialect(connection: sqlite3.Connection) -> Dialect:
    def run_many(sql: str, rows: Sequence[Sequence[Any]]) -> None:
        connection.executemany(sql, rows)

    return Dialect(_TYPES, "", connection.execute, run_many)


def _locked(path: Path) -> Any:
    """The writer's lock: a file beside the database, which also says who has it."""
    try:
        file = path.with_name(f"{path.name}-writer").open("a+")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip() or "?"
        file.close()
        raise StoreError(
            f"{path} is being written by another process (number {owner}). One process writes to a SQLite file at a "
            "time: stop that one, or let several serve from PostgreSQL (--database-url)."
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
