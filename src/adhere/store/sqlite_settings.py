"""How a SQLite file of trials is written and searched."""

from __future__ import annotations

import sqlite3

# How many rows there are and how many share the first columns of each index, as of a large trial. Left to itself,
# SQLite takes every trial for a small one and reads all of it for each batch of requests.
_STATISTICS = (
    ("records", "records", "1000000 100000 1"),
    ("records", "records_by_request", "1000000 100000 1"),
    ("records", "records_by_recommendation", "1000000 100000 2 1"),
)
_CACHE_KIB = 32 * 1024  # request ids are found by chance: the index's pages should mostly be at hand
_PAGES_BEFORE_CHECKPOINT = 4000  # 16 MB of write-ahead log: checkpoints are seldom, and restarts read little


def set_up_writer(connection: sqlite3.Connection) -> None:
    """Set how a connection writes: with a write-ahead log that is on the disk after each commit."""
    run = connection.execute
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = FULL")
    run("PRAGMA fullfsync = ON")  # on macOS only this goes past the disk's own memory
    run("PRAGMA secure_delete = ON")  # what is erased is overwritten
    run(f"PRAGMA cache_size = {-_CACHE_KIB}")
    run(f"PRAGMA wal_autocheckpoint = {_PAGES_BEFORE_CHECKPOINT}")


def let_busy_fail(connection: sqlite3.Connection) -> bool:
    """Let a statement fail at once if another program has locked the database; return whether that was set.

    Without a write-ahead log, which some file systems do not allow, a commit may have to wait for readers, so that
    SQLite keeps waiting by itself.
    """
    has_log: bool = connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    if has_log:
        connection.execute("PRAGMA busy_timeout = 0")
    return has_log


def add_statistics(connection: sqlite3.Connection) -> None:
    """Write what SQLite should believe of the tables, once."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").fetchone():
        connection.execute("ANALYZE")  # makes the table
        connection.execute("DELETE FROM sqlite_stat1")
        connection.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", _STATISTICS)
