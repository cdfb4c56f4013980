"""adhere trial restore: a backup takes the place of a file, whole and checked, or not at all."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.events import Created, EpochBegun, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.writing.processor import CommandProcessor

from .running import check_complaint, in_this_process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file of two trials and a backup from when there was one."""
    store = open_store(tmp_path / "adhere.db")
    processor = CommandProcessor(store)
    processor.create(make_design("headache", "thompson/actual", ["walk", "aspirin"]))
    store.backup(tmp_path / "backup.db")  # type: ignore[attr-defined]
    processor.create(make_design("migraine", "thompson/actual", ["walk", "aspirin"]))
    # As after kill -9: the second trial is in the -wal only.
    shutil.copy(tmp_path / "adhere.db", tmp_path / "killed.db")
    shutil.copy(tmp_path / "adhere.db-wal", tmp_path / "killed.db-wal")
    store.close()
    (tmp_path / "killed.db").replace(tmp_path / "adhere.db")
    (tmp_path / "killed.db-wal").replace(tmp_path / "adhere.db-wal")
    return tmp_path


def _trials(path: Path) -> list[str]:
    with closing(open_store(path)) as store, store.reading() as view:
        return list(view.trials())


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith("-writer")}


def test_to_read_a_backup_leaves_nothing_beside_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = _names(folder)
    assert in_this_process(capsys, "trial", "verify", str(folder / "backup.db")).status == 0
    assert _names(folder) == before


def test_a_backup_into_a_new_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = folder / "new.db"
    done = in_this_process(capsys, "trial", "restore", str(folder / "backup.db"), "--into", str(new))
    assert done.out.startswith(f"restored {folder / 'backup.db'} into {new}\nheadache: 1 record\nhead ")
    assert new.stat().st_mode & 0o777 == 0o600
    with closing(open_store(new, read_only=True)) as store, store.reading() as view:
        created, begun = (decode(record.body) for record in walk(view, view.trials()["headache"]))
        assert isinstance(created, Created)
        assert isinstance(begun, EpochBegun)  # with a fresh secret: arms after the backup are known to some
        secrets = [view.secret(one.commitment) for one in (created, begun)]
    assert begun.reason == "restored from a backup: records after it are lost"
    assert None not in secrets
    assert secrets[0] != secrets[1]
    assert _trials(new) == ["headache"]
    assert not [name for name in _names(folder) if name.startswith(".")]


def test_the_file_that_was_there_is_kept_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    restore = ("trial", "restore", str(folder / "backup.db"), "--into", str(folder / "adhere.db"))
    before = _names(folder)
    check_complaint(in_this_process(capsys, *restore), "adhere.db exists: --replace")
    assert _names(folder) == before
    done = in_this_process(capsys, *restore, "--replace")
    assert done.status == 0
    (kept,) = [path for path in folder.glob("adhere.db.replaced-*") if path.name.endswith("Z")]
    assert f"the file that was there is kept as {kept}\n" in done.out
    assert _trials(folder / "adhere.db") == ["headache"]
    assert _trials(kept) == ["headache", "migraine"]


def test_not_while_a_service_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    restore = ("trial", "restore", str(folder / "backup.db"), "--into", str(folder / "adhere.db"), "--replace")
    with closing(open_store(folder / "adhere.db")):
        check_complaint(in_this_process(capsys, *restore), "is being written by another process")
    assert _trials(folder / "adhere.db") == ["headache", "migraine"]


def test_a_backup_that_is_not_whole_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    into = ("--into", str(folder / "adhere.db"), "--replace")
    changed, cut, text, other, empty = (
        folder / f"{name}.db" for name in ("changed", "cut", "text", "other", "empty")
    )
    shutil.copy(folder / "backup.db", changed)
    with closing(sqlite3.connect(changed)) as database, database:
        database.execute("UPDATE records SET body = CAST(replace(body, 'walk', 'wolk') AS BLOB)")
    shutil.copy(folder / "backup.db", cut)
    with cut.open("r+b") as file:
        file.truncate(cut.stat().st_size - 8192)
    text.write_text("these are my notes " * 50)
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE places (name)")
    empty.touch()
    before = _names(folder)
    done = in_this_process(capsys, "trial", "restore", str(changed), *into)
    assert (done.status, done.out) == (1, "")
    assert "headache, record 1: its hash does not match" in done.err
    for path, says in ((cut, "cut.db"), (text, "not a database"), (other, "something else"), (empty, "is empty")):
        check_complaint(in_this_process(capsys, "trial", "restore", str(path), *into), says)
    check_complaint(in_this_process(capsys, "trial", "restore", str(folder / "no.db"), *into), "no.db does not exist")
    check_complaint(
        in_this_process(capsys, "trial", "restore", str(folder / "adhere.db"), *into), "is the target itself"
    )
    check_complaint(
        in_this_process(capsys, "trial", "restore", str(changed), "--into", "postgresql://a:b@c/d"), "pg_restore"
    )
    assert _names(folder) == before
    assert _trials(folder / "adhere.db") == ["headache", "migraine"]
