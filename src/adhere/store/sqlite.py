"""Trials in one SQLite file, or in memory. One process writes; others may read at any time.

Durability: write-ahead log with `synchronous=FULL`, so that a commit returns only once its bytes are on the disk.
In memory there is one connection for all, so that a writer waits for the views of other threads to end.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import filelock
import msgspec

from adhere.errors import StoreError
from adhere.store.migrations import check_format, migrate
from adhere.store.store import Store
from adhere.store.transactions import WriteTransaction

# How many rows there are and how many share the first columns of each index, as of a large trial. Left to itself,
# SQLite takes every trial for a small one and reads all of it for each batch of requests.
_STATISTICS = (
    ("records", "records", "1000000 100000 1"),
    ("records", "records_by_request", "1000000 100000 1"),
    ("records", "records_by_recommendation", "1000000 100000 2 1"),
)
_ROWS_AT_ONCE = 64
_CACHE_KIB = 32 * 1024  # request ids are found by chance: the index's pages should mostly be at hand
_PAGES_BEFORE_CHECKPOINT = 4000  # 16 MB of write-ahead log: checkpoints are seldom, and restarts read little


class SqliteTransaction(WriteTransaction):
    """A transaction on a connection."""

    among = "IN (SELECT value FROM json_each(?))"
    locked = ""  # there is one writer
    types: ClassVar = {
        "bytes": "BLOB",
        "number": "INTEGER",
        "text": "TEXT",
        "counter": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "clustered": " WITHOUT ROWID",
    }

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement with its values."""
        return self._connection.execute(sql, values)

    def together(self, values: Sequence[Any]) -> str:
        """The values as a list in JSON."""
        return msgspec.json.encode(list(values)).decode()

    def insert(self, table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows with one statement: Python's other threads are let in once, not at every row."""
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[first : first + _ROWS_AT_ONCE]
            marks = ", ".join([f"({', '.join('?' * len(columns))})"] * len(some))
            sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {marks}"
            self.run(sql, [value for row in some for value in row])


class SqliteStore(Store):
    """A file of trials (`None`: in memory, gone when closed).

    Opened to write, it takes a lock beside the file that the system releases when the process ends, however it ends.
    A store in memory that `spills` moves to a nameless file once it outgrows the cache.
    """

    shared = False

    def __init__(self, path: Path | None, *, read_only: bool = False, spills: bool = False) -> None:
        self._path, self._where = path, str(path or "the store in memory")
        self._in_memory = "" if spills else ":memory:"
        # The writer, and in memory every reader too, share one connection.
        self._turn = threading.RLock()
        if path is not None:
            _check(path, read_only)
        with ExitStack() as undo:
            self._lock = None if path is None or read_only else _locked(path)
            undo.callback(self._unlock)
            self._connection = self._connect(read_only)
            undo.callback(self._connection.close)
            try:
                self._prepare(read_only)
            except sqlite3.Error as error:
                raise self._unusable(error) from None
            undo.pop_all()

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc"
        name = self._in_memory if self._path is None else f"{self._path.absolute().as_uri()}?mode={mode}"
        try:
            connection = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False, timeout=30.0)
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        if read_only:  # damaged text must not stop `verify`, which reports it
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        return connection

    def _prepare(self, read_only: bool) -> None:
        """Bring the tables to this version, but refuse the file of another program before anything is changed."""
        run = self._connection.execute
        names = [row[0] for row in run("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and "adhere_schema" not in names:
            raise StoreError(f"{self._where} is a database of something else (it has a table {names[0]})")
        if read_only:
            check_format(SqliteTransaction(self._connection), self._where)
            return
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA fullfsync = ON")  # on macOS only this goes past the disk's own memory
        run("PRAGMA secure_delete = ON")  # what is erased is overwritten
        run(f"PRAGMA cache_size = {-_CACHE_KIB}")
        run(f"PRAGMA wal_autocheckpoint = {_PAGES_BEFORE_CHECKPOINT}")
        with self._transaction(self._connection, "BEGIN IMMEDIATE"):
            migrate(SqliteTransaction(self._connection), self._where)
            if not run("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").fetchone():
                run("ANALYZE")  # makes the table
                run("DELETE FROM sqlite_stat1")
                self._connection.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", _STATISTICS)
        run("ANALYZE sqlite_schema")  # has them used from now on

    def _unusable(self, error: sqlite3.Error) -> StoreError:
        return StoreError(f"{self._where} cannot be opened as a file of trials: {error}")

    @contextmanager
    def writing(self) -> Iterator[SqliteTransaction]:
        """A transaction. When the block ends without an error, all of it is on disk; otherwise nothing is."""
        with self._turn, self._transaction(self._connection, "BEGIN IMMEDIATE"):
            yield SqliteTransaction(self._connection)

    @contextmanager
    def reading(self) -> Iterator[SqliteTransaction]:
        """A consistent view, beside which others may write."""
        with self._view() as connection:
            if connection is self._connection:  # in memory: the lock excludes others
                yield SqliteTransaction(connection)
            else:
                with self._transaction(connection, "BEGIN"):
                    yield SqliteTransaction(connection)

    @contextmanager
    def _view(self) -> Iterator[sqlite3.Connection]:
        if self._path is None:
            with self._turn:
                yield self._connection
        else:
            with closing(self._connect(read_only=True)) as connection:
                yield connection

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection, begin: str) -> Iterator[None]:
        try:
            # Not within the inner block: a transaction begun within another fails here, and must not undo that one.
            connection.execute(begin)
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StoreError(f"{self._where}: {error}") from error

    def backup(self, to: Path) -> None:
        """Copy everything, as of one moment, into a new file; others may go on writing."""
        if to.exists():
            raise StoreError(f"{to} is there already: give a new name")
        part = to.with_name(f"{to.name}.part")  # so that half a copy is never taken for a whole one
        try:
            with self._view() as connection, closing(sqlite3.connect(part)) as copy:
                connection.backup(copy)
            part.replace(to)
        except (sqlite3.Error, OSError) as error:
            with suppress(OSError):
                part.unlink()
            raise StoreError(f"{to} cannot be written: {error}") from None

    def close(self) -> None:
        """Close the file and let another process write to it."""
        with self._turn:
            self._connection.close()
            self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _check(path: Path, read_only: bool) -> None:
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder: give the name of a file in it")
        if read_only and not path.is_file():
            raise StoreError(f"{path} is no file")
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be written: no such directory")
    except OSError as error:
        raise StoreError(f"{path} cannot be reached: {error.strerror}") from None


def _locked(path: Path) -> filelock.BaseFileLock:
    """The writer's lock: a file beside the database, which the system unlocks when the process ends."""
    lock = filelock.FileLock(path.with_name(f"{path.name}-writer"), timeout=0)
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
