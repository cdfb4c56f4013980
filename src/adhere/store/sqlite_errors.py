"""What an error of SQLite means."""

from __future__ import annotations

import sqlite3
from typing import Final

from adhere.errors import DamagedStoreError, StoreError, StoreUnavailableError

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
    """Whether the database itself is damaged."""
    return _kind(error) == sqlite3.SQLITE_CORRUPT


def leaves_doubt(error: BaseException) -> bool:
    """Whether a commit that failed may be found after a crash: it was in the log, but could not be synced.

    On a full disk the end of the commit is missing, without which the log is as if it had not begun.
    """
    return _kind(error) == sqlite3.SQLITE_IOERR


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection has locked the database."""
    return _kind(error) == sqlite3.SQLITE_BUSY


def in_words(error: sqlite3.Error, where: str, otherwise: str) -> StoreError:
    """The error of a store: damage, something that may pass, or else what `otherwise` says of it."""
    if is_damage(error):
        return DamagedStoreError(f"{where} is damaged: {error}. Restore a backup: adhere trial restore.")
    kind = StoreUnavailableError if _kind(error) in _PASSING else StoreError
    return kind(f"{where}{otherwise}: {error}")


def _kind(error: BaseException) -> int:
    """The kind of an error: the lowest byte of its code."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)) & 0xFF
