"""What an error of SQLite means."""

from __future__ import annotations

import sqlite3

from adhere.errors import DamagedStoreError, StoreError


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the database itself is damaged."""
    return _kind(error) == sqlite3.SQLITE_CORRUPT


def leaves_doubt(error: BaseException) -> bool:
    """Whether a commit that failed may be found after a crash: it was in the log, but could not be synced.

    On a full disk the end of the commit is missing, without which the log is as if it had not begun.
    """
    return _kind(error) == sqlite3.SQLITE_IOERR


def in_words(error: sqlite3.Error, where: str, otherwise: str) -> StoreError:
    """The error of a store: damage, or else what `otherwise` says of it."""
    if is_damage(error):
        return DamagedStoreError(f"{where} is damaged: {error}. Restore a backup: adhere trial restore.")
    return StoreError(f"{where}{otherwise}: {error}")


def _kind(error: BaseException) -> int:
    """The kind of an error: the lowest byte of its code."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)) & 0xFF
