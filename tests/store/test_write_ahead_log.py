"""The write-ahead log overwritten in place under its writer: nothing more is acknowledged, and no harm is added."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from adhere.errors import OutcomeUnknownError, RecordsLostError
from adhere.store import StoreError
from adhere.store.sqlite import SqliteStore
from adhere.store.sqlite_transaction import set_up_writer

from .places import append, fill, make_trial, record


def _copy_older(path: Path) -> None:
    shutil.copyfile(path.with_name("older"), path)


def _truncate(path: Path) -> None:
    os.truncate(path, 0)


def _junk_at_the_start(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"junk" * 2000)


def _junk_in_the_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(10_000)
        file.write(b"junk")


def _grown(store: SqliteStore, path: Path) -> int:
    trial = make_trial(store)
    fill(store, trial, *(record(n) for n in range(1, 201)))
    shutil.copyfile(f"{path}-wal", path.with_name("older"))
    for n in range(201, 206):
        fill(store, trial, record(n))
    return trial


@pytest.mark.parametrize("change", [_copy_older, _truncate, _junk_at_the_start, _junk_in_the_middle])
def test_an_overwritten_log_takes_no_more_writes(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        trial = _grown(store, path)
        time.sleep(0.02)  # the system's clock for files may stand still for so long
        change(tmp_path / "trials.db-wal")
        before = path.read_bytes()
        for _ in range(2):
            with pytest.raises(StoreError, match=r"trials\.db-wal was overwritten while it was in use"):
                fill(store, trial, record(206))
        with pytest.raises(StoreError, match="was overwritten"):
            store.check()
    assert path.read_bytes() == before  # nothing of what is in the log now was moved there


@pytest.mark.parametrize("change", [_copy_older, _truncate, _junk_at_the_start])
def test_a_log_overwritten_within_a_transaction(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        trial = _grown(store, path)

        def write() -> None:
            with store.writing() as transaction:
                append(transaction, trial, record(206))
                change(tmp_path / "trials.db-wal")

        with pytest.raises(OutcomeUnknownError, match=r"trials\.db-wal was overwritten"):
            write()


def test_what_sqlite_does_to_the_log_is_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        trial = make_trial(store)
        store._connection.execute("PRAGMA cache_size = 10")  # transactions go to the log before they end
        store._connection.execute("PRAGMA wal_autocheckpoint = 20")  # after which it begins at its start again
        for first in range(1, 6001, 300):
            fill(store, trial, *(record(n) for n in range(first, first + 300)))
            with suppress(ZeroDivisionError), store.writing() as transaction:
                append(transaction, trial, *(record(n) for n in range(first + 300, first + 3000)))
                raise ZeroDivisionError
        store.check()
        with store.reading() as view:
            assert view.head(trial).position == 6000


def test_a_deleted_log_is_moved_into_the_database_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        trial = _grown(store, path)
        (tmp_path / "trials.db-wal").unlink()
        with pytest.raises(StoreError, match=r"trials\.db-wal was deleted"):
            fill(store, trial, record(206))
    with closing(SqliteStore(path)) as store, store.reading() as view:
        assert view.head(trial).position == 205


def test_a_store_without_its_log_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        make_trial(store)
        shutil.copyfile(path, tmp_path / "alone.db")  # as if the log had been lost before a crash
    with pytest.raises(RecordsLostError, match=r"alone\.db was not closed"):
        SqliteStore(tmp_path / "alone.db")
    with closing(SqliteStore(tmp_path / "alone.db", read_only=True)) as store, store.reading() as view:
        assert list(view.trials()) == ["aspirin"]


def test_a_file_system_without_write_ahead_logs_is_refused(tmp_path: Path) -> None:
    """SQLite's VFS `unix-none` has no shared memory, like some network drives."""
    path = tmp_path / "adhere.db"
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?vfs=unix-none", uri=True)) as connection,
        pytest.raises(StoreError, match=r"^adhere\.db: this file system .* put the file on a local disk, or use"),
    ):
        set_up_writer(connection, Path("adhere.db"))
    assert path.stat().st_size == 0
