"""The database's file: who may read it, one writer whatever the name, and what happens when it goes away."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adhere.files import replacing
from adhere.store import StoreError
from adhere.store.sqlite import SqliteStore

from .places import append, fill, make_trial, record


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_all_files_are_only_for_their_owner(tmp_path: Path) -> None:
    with _umask(0), closing(SqliteStore(tmp_path / "trials.db")) as store:
        fill(store, make_trial(store), record(1))
        store.backup(tmp_path / "copy.db")
        with replacing(tmp_path / "export.csv", private=True) as temporary:
            assert temporary.stat().st_mode & 0o777 == 0o600
            temporary.write_text("arm")
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    beside = [f"trials.db{suffix}" for suffix in ("", "-progress", "-shm", "-wal", "-writer")]
    assert modes == dict.fromkeys(["copy.db", "export.csv", *beside], 0o600)


def test_a_file_that_others_may_read_keeps_its_mode_and_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "trials.db"
    SqliteStore(path).close()
    path.chmod(0o640)  # a group was let in on purpose
    SqliteStore(path).close()
    assert not caplog.records
    path.chmod(0o644)
    SqliteStore(path).close()
    assert path.stat().st_mode & 0o777 == 0o644
    assert "can be read by every user of this machine (mode 0644)" in caplog.text


def _delete(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    shutil.copy(path, path.with_name("other"))
    path.with_name("other").replace(path)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-writer"])
@pytest.mark.parametrize("change", [_delete, _replace])
def test_a_file_that_went_away_takes_no_more_writes(
    tmp_path: Path, suffix: str, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        trial = make_trial(store)
        with store.writing() as transaction:
            append(transaction, trial, record(1))
        change(path.with_name(path.name + suffix))
        with pytest.raises(StoreError, match=rf"trials\.db{suffix} was deleted, moved or replaced.*start it again"):
            fill(store, trial, record(2))
        with pytest.raises(StoreError, match="was deleted, moved or replaced"):
            store.check()


def test_a_file_that_goes_away_within_a_transaction(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    store = SqliteStore(path)
    trial = make_trial(store)

    def write() -> None:
        with store.writing() as transaction:
            append(transaction, trial, record(1))
            path.rename(tmp_path / "moved.db")

    with pytest.raises(StoreError, match="was deleted, moved or replaced"):
        write()
    (tmp_path / "moved.db").rename(path)
    with pytest.raises(StoreError, match="was deleted, moved or replaced"):  # until it is opened again
        fill(store, trial, record(1))
    store.close()
    with closing(SqliteStore(path)) as again, again.reading() as view:
        assert view.records(trial) == []


def test_a_second_writer_by_another_name_is_refused(tmp_path: Path) -> None:
    path, soft, hard = tmp_path / "trials.db", tmp_path / "soft.db", tmp_path / "hard.db"
    with closing(SqliteStore(path)) as store:
        soft.symlink_to(path)
        with pytest.raises(StoreError, match="written by another process"):
            SqliteStore(soft)
        hard.hardlink_to(path)
        with pytest.raises(StoreError, match=r"hard\.db is a file with 2 names \(hard links\)"):
            SqliteStore(hard)
        store.check()
    hard.unlink()
    with closing(SqliteStore(soft)) as store:
        make_trial(store)
        with pytest.raises(StoreError, match="written by another process"):
            SqliteStore(path)


def _tear_head(database: sqlite3.Connection) -> None:
    database.execute("UPDATE trials SET position = 3")


def _tear_hash(database: sqlite3.Connection) -> None:
    database.execute("UPDATE trials SET hash = x'00'")


def _tear_record(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM records WHERE position = 2")


@pytest.mark.parametrize("tear", [_tear_head, _tear_hash, _tear_record])
def test_a_head_that_is_not_of_the_last_record_is_refused(
    tmp_path: Path, tear: Callable[[sqlite3.Connection], None]
) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        fill(store, make_trial(store, "headache"), record(1))
        fill(store, make_trial(store, "aspirin"), record(1), record(2))
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM records WHERE trial = 1")
        database.execute("DELETE FROM trials WHERE id = 1")
        tear(database)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"'aspirin'.*does not end at its head"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_the_wal_of_another_copy_is_not_continued(tmp_path: Path) -> None:
    """A backup was copied over a file whose process had been killed, and its -wal was left there."""
    path, copy = tmp_path / "trials.db", tmp_path / "backup.db"
    old, old_wal = tmp_path / "old.db", tmp_path / "old.db-wal"
    with closing(SqliteStore(path)) as store:
        trial = make_trial(store)
        fill(store, trial, *(record(n, f"request {n}") for n in range(1, 101)))
        store.backup(copy)
        fill(store, trial, *(record(n, f"request {n}") for n in range(101, 20_001)))
        store._connection.execute("PRAGMA wal_autocheckpoint = 1")
        fill(store, trial, record(20_001))
        store._connection.execute("PRAGMA wal_autocheckpoint = 4000")
        fill(store, trial, *(record(n, f"request {n}") for n in range(20_002, 20_101)))
        shutil.copy(path, old)  # as kill -9 would leave them
        shutil.copy(f"{path}-wal", old_wal)
    shutil.copy(copy, old)
    with pytest.raises(StoreError, match=r"old\.db"):
        SqliteStore(old)
    with pytest.raises(StoreError, match=r"old\.db"):  # nor the second time, when SQLite has taken it over
        SqliteStore(old)


def test_a_wal_without_its_file_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        fill(store, make_trial(store), record(1))
        shutil.copy(f"{path}-wal", tmp_path / "lost.db-wal")
    with pytest.raises(StoreError, match=r"lost\.db does not exist, but lost\.db-wal does"):
        SqliteStore(tmp_path / "lost.db")
    assert (tmp_path / "lost.db-wal").stat().st_size


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "loop.db").symlink_to(tmp_path / "loop.db")
    with pytest.raises(StoreError, match=r"loop\.db cannot be reached"):
        SqliteStore(tmp_path / "loop.db")


def test_a_backup_copied_over_the_file_in_place_takes_no_more_writes(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with closing(SqliteStore(path)) as store:
        trial = make_trial(store)
        store.backup(tmp_path / "copy.db")
        store._connection.execute("PRAGMA wal_autocheckpoint = 1")
        for n in range(1, 6):  # what SQLite itself moves into the file at a commit is no harm
            fill(store, trial, record(n))
        assert path.stat().st_mtime_ns != (tmp_path / "copy.db").stat().st_mtime_ns
        shutil.copyfile(tmp_path / "copy.db", path)
        with pytest.raises(StoreError, match=r"trials\.db was overwritten"):
            fill(store, trial, record(6))
        with pytest.raises(StoreError, match=r"trials\.db was overwritten"):
            store.check()


def test_an_empty_wal_that_a_reader_left_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "trials.db-wal").touch()
    SqliteStore(tmp_path / "trials.db").close()
