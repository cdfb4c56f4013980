"""Statements in SQLite's words."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from adhere.store.records import Head, Token
from adhere.store.schema import CATALOGUE
from adhere.store.secret_file import SecretFile
from adhere.store.transactions import WriteTransaction

_ROWS_AT_ONCE = 64


class SqliteTransaction(WriteTransaction):
    """A transaction on a connection."""

    catalogue = CATALOGUE
    torn_by = (
        "this is a mixture of two copies (was a backup put beside another file's -wal?). Restore a backup: adhere "
        "trial restore."
    )
    among = "IN (SELECT value FROM json_each(?))"
    locked = ""  # there is one writer
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
        self._claim = claim  # the opening to take possession by; empty: it is taken
        self.checkpoint_after = False  # whether it made what a store must never lose from sight: a trial, or a token
        self.opening = ""  # of the writer that takes possession in it

    def take_possession(self) -> bool:
        """Make the file this writer's own, once the transaction is committed; return False if it already is."""
        if not self._claim or self.opening:
            return False
        self.opening, self.checkpoint_after = self._claim, True
        self.run("UPDATE installation SET opening = ?, is_open = 1 WHERE id = 1", (self.opening,))
        return True

    def add_trial(self, name: str, head: Head) -> int:
        """Add a trial under a new name; returns its number."""
        self.checkpoint_after = True
        return super().add_trial(name, head)

    def add_token(self, token: Token) -> Token:
        """Add a token; returns it with its id."""
        self.checkpoint_after = True
        return super().add_token(token)

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
