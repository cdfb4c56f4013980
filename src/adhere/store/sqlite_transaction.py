"""SQLite's own part: the meaning of its errors, its settings for writing and searching, and its SQL."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from adhere.errors import DamagedStoreError, StoreError, StoreUnavailableError
from adhere.store.records import Head, Token
from adhere.store.secret_file import SecretFile
from adhere.store.transactions import PRIMARY_KEY, WriteTransaction

_PASSING: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the database itself is damaged."""
    return _kind(error) == sqlite3.SQLITE_CORRUPT


def leaves_doubt(error: BaseException) -> bool:
    """Return whether a failed commit may reappear after a crash: it was in the log but could not be synced.

    On a full disk the end of the commit is missing, and SQLite then ignores the commit.
    """
    return _kind(error) == sqlite3.SQLITE_IOERR


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection has locked the database."""
    return _kind(error) == sqlite3.SQLITE_BUSY


def in_words(error: sqlite3.Error, where: str, otherwise: str) -> StoreError:
    """Return the store's error: damage, a temporary fault, or an error with the text `otherwise`."""
    if is_damage(error):
        return DamagedStoreError(f"{where} is damaged: {error}. Restore a backup: adhere trial restore.")
    kind = StoreUnavailableError if _kind(error) in _PASSING else StoreError
    return kind(f"{where}{otherwise}: {error}")


def _kind(error: BaseException) -> int:
    """Return the kind of an error: the lowest byte of its code."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)) & 0xFF


# The number of rows, and the number that share the first columns of each index, as in a large trial. Otherwise SQLite
# assumes that every trial is small and scans it for each batch of requests.
_STATISTICS = (
    ("records", "records", "1000000 100000 1"),
    ("records", "records_by_request", "1000000 100000 1"),
    ("records", "records_by_recommendation", "1000000 100000 2 1"),
)
_CACHE_KIB = 32 * 1024  # request IDs are random: most pages of the index should be in memory
_PAGES_BEFORE_CHECKPOINT = 4000  # 16 MB of write-ahead log: checkpoints are rare, and restarts read little


def set_up_writer(connection: sqlite3.Connection, file: Path | None) -> None:
    """Set how a connection writes: with a write-ahead log that is on disk after each commit.

    Raise `StoreError` if the file system does not support such a log, as some network drives do not.
    """
    run = connection.execute
    mode: str = run("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal" and file is not None:  # a database without a file, or in a nameless one, has no log
        raise StoreError(
            f"{file}: this file system does not support SQLite's write-ahead log; put the file on a local disk, or "
            "use PostgreSQL"
        )
    run("PRAGMA synchronous = FULL")
    run("PRAGMA fullfsync = ON")  # on macOS, only this flushes the disk's own memory
    run("PRAGMA secure_delete = ON")  # erased data are overwritten
    run(f"PRAGMA cache_size = {-_CACHE_KIB}")
    run(f"PRAGMA wal_autocheckpoint = {_PAGES_BEFORE_CHECKPOINT}")


def let_busy_fail(connection: sqlite3.Connection) -> bool:
    """Make statements fail at once if another program has locked the database. Return whether the setting was
    changed.

    A database without a file has no write-ahead log. Its commits may have to wait for readers, so SQLite keeps
    waiting by itself.
    """
    has_log: bool = connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    if has_log:
        connection.execute("PRAGMA busy_timeout = 0")
    return has_log


def add_statistics(connection: sqlite3.Connection) -> None:
    """Write the statistics that SQLite should assume for the tables, once."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").fetchone():
        connection.execute("ANALYZE")  # creates the table
        connection.execute("DELETE FROM sqlite_stat1")
        connection.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", _STATISTICS)


_ROWS_AT_ONCE = 64
CATALOGUE = f"""
    SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table'
    UNION ALL SELECT tables.name || '{PRIMARY_KEY}', columns.name
    FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' AND columns.pk
    UNION ALL SELECT name, NULL FROM sqlite_master WHERE type = 'index'
"""


class SqliteTransaction(WriteTransaction):
    """A transaction on a SQLite connection."""

    catalogue = CATALOGUE
    torn_by = (
        "this is a mixture of two copies (was a backup put beside another file's -wal?). Restore a backup: adhere "
        "trial restore."
    )
    in_clause = "IN (SELECT value FROM json_each(?))"
    locked = ""  # there is only one writer
    types: ClassVar = {
        "bytes": "BLOB",
        "number": "INTEGER",
        "text": "TEXT",
        "counter": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "clustered": " WITHOUT ROWID",
    }

    def __init__(
        self, connection: sqlite3.Connection, secret_file: SecretFile | None = None, *, claim: str = ""
    ) -> None:
        self._connection, self.secret_file = connection, secret_file
        self._claim = claim  # the opening to take possession with; empty if possession is taken
        self.checkpoint_after = False  # whether it created a trial or a token, which a store must never lose
        self.opening = ""  # of the writer that takes possession in this transaction

    def take_possession(self) -> bool:
        """Take possession of the file when the transaction is committed. Return False if this writer already has
        it.
        """
        if not self._claim or self.opening:
            return False
        self.opening, self.checkpoint_after = self._claim, True
        self.run("UPDATE installation SET opening = ?, is_open = 1 WHERE id = 1", (self.opening,))
        return True

    def add_trial(self, name: str, head: Head) -> int:
        """Add a trial under a new name and return its number."""
        self.checkpoint_after = True
        return super().add_trial(name, head)

    def add_token(self, token: Token) -> Token:
        """Add a token and return it with its ID."""
        self.checkpoint_after = True
        return super().add_token(token)

    def run(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement with its values."""
        return self._connection.execute(sql, values)

    def in_values(self, values: Sequence[Any]) -> str:
        """Return the values as a list in JSON."""
        return msgspec.json.encode(list(values)).decode()

    def insert(self, table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows with one statement, so that Python switches threads once and not at every row."""
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[first : first + _ROWS_AT_ONCE]
            marks = ", ".join([f"({', '.join('?' * len(columns))})"] * len(some))
            sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {marks}"
            self.run(sql, [value for row in some for value in row])
