"""What is particular to SQLite files."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adhere.store import StoreError, open_store
from adhere.store.records import Subject
from adhere.store.sqlite import SqliteStore
from adhere.store.subjects import erase

from .places import append, fill, make_trial, record
from .writers import start, write_and_stay


def test_a_second_writer_is_refused_until_the_first_closes(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    first = SqliteStore(path)
    with pytest.raises(StoreError, match=r"written by another process\..*PostgreSQL"):
        SqliteStore(path)
    first.check()
    first.close()
    SqliteStore(path).close()


def test_any_thread_may_close(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "trials.db")
    closing_it = threading.Thread(target=store.close)
    closing_it.start()
    closing_it.join()
    SqliteStore(tmp_path / "trials.db").close()


def test_a_second_writer_takes_over_from_one_that_was_killed(tmp_path: Path) -> None:
    path, ready = tmp_path / "trials.db", tmp_path / "ready"
    process = start(write_and_stay, path, ready)
    while not (ready.exists() and ready.read_text()):
        assert process.is_alive()
        time.sleep(0.01)
    with pytest.raises(StoreError, match="written by another process"):
        SqliteStore(path)
    with closing(SqliteStore(path, read_only=True)) as reader, reader.reading() as view:
        assert view.records(1) == [record(1)]
    process.kill()
    process.join()
    with closing(SqliteStore(path)) as store, store.reading() as view:
        assert view.records(1) == [record(1)]


def test_a_backup_has_everything_and_stops_nobody(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "trials.db")) as store:
        trial = make_trial(store)
        fill(store, trial, record(1))
        with store.writing() as transaction:
            # Beside an open transaction, of which it must show nothing.
            transaction.append(trial, [record(2)], transaction.head(trial))
            copying = threading.Thread(target=store.backup, args=(tmp_path / "copy.db",))
            copying.start()
            copying.join()
    with closing(SqliteStore(tmp_path / "copy.db")) as copy, copy.reading() as view:
        assert view.records(trial) == [record(1)]
    assert not list(tmp_path.glob("*.part*"))


def test_a_backup_of_a_store_in_memory(tmp_path: Path) -> None:
    with closing(SqliteStore(None)) as store:
        trial = make_trial(store)
        store.backup(tmp_path / "copy.db")
    with closing(SqliteStore(tmp_path / "copy.db")) as copy, copy.reading() as view:
        assert view.trials() == {"aspirin": trial}


def test_a_backup_needs_a_new_file_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("precious")
    with closing(SqliteStore(tmp_path / "trials.db")) as store:
        with pytest.raises(StoreError, match="there already"):
            store.backup(tmp_path / "there")
        for folder in ("missing", "there"):
            with pytest.raises(StoreError, match="cannot be written"):
                store.backup(tmp_path / folder / "copy.db")
    assert (tmp_path / "there").read_text() == "precious"


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, read_only: bool) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("These are my notes. " * 100)
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE places (name)")
    before = text.read_bytes(), other.read_bytes()
    with pytest.raises(StoreError, match=r"notes\.txt cannot be opened as a file of trials: file is not a database"):
        open_store(text, read_only=read_only)
    with pytest.raises(StoreError, match=r"other\.db is a database of something else \(it has a table places\)"):
        open_store(other, read_only=read_only)
    assert (text.read_bytes(), other.read_bytes()) == before


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="is a folder: give the name of a file in it"):
        open_store(tmp_path)
    for folder in ("missing", "file"):
        with pytest.raises(StoreError, match=r"trials\.db cannot be written: folder .* does not exist"):
            open_store(tmp_path / folder / "trials.db")
    with pytest.raises(StoreError, match="does not exist"):
        open_store(tmp_path / "missing.db", read_only=True)
    with pytest.raises(StoreError, match="mysql:// is not supported"):
        open_store("mysql://host/trials")


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with _without_privileges(), pytest.raises(StoreError, match=r"trials\.db cannot be \w+: Permission denied"):
            open_store(tmp_path / "trials.db")
    finally:
        tmp_path.chmod(0o755)


def test_a_name_with_odd_characters(tmp_path: Path) -> None:
    path = tmp_path / "50% off? #1 ü.db"
    with closing(SqliteStore(path)) as store:
        make_trial(store)
        store.check()
    assert path.is_file()


def test_what_is_erased_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    subject = Subject("Wolfeschlegelstein", "key", b"salt")
    with closing(SqliteStore(path)) as store:
        trial = make_trial(store)
        with store.writing() as transaction:
            transaction.add_subjects(trial, [subject])
            append(transaction, trial, record(1, None, 1, subject.key))
            transaction.save_note(trial, 1, b"salt", "Hausenbergerdorff")
    assert b"Wolfeschlegelstein" in path.read_bytes()
    with closing(SqliteStore(path)) as store, store.writing() as transaction:
        erase(transaction, trial, subject)
    assert b"Wolfeschlegelstein" not in path.read_bytes()
    assert b"Hausenbergerdorff" not in path.read_bytes()


@contextmanager
def _without_privileges() -> Iterator[None]:
    """Root may write anywhere; be nobody for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
