"""Acknowledged records that are gone are noticed at the next start, also after kill -9; copies are recognised."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from adhere.errors import OutcomeUnknownError, RecordsLostError
from adhere.store import StoreError
from adhere.store.possession import Possession, ProgressFile
from adhere.store.restoring import restoring
from adhere.store.sqlite import SqliteStore

from .faulty_disk import FaultyDisk
from .places import append, fill, make_trial, record
from .writers import CONTEXT, append_until_killed, start

N_RECORDS = 30
FRAME = 24 + 4096  # a page in the -wal, and its header


@pytest.fixture(scope="module")
def left_by_kill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a process left it that was killed after it had appended records."""
    folder = tmp_path_factory.mktemp("killed")
    here, there = CONTEXT.Pipe()
    process = start(append_until_killed, folder / "trials.db", N_RECORDS, there)
    there.close()
    assert here.recv() == "done"
    process.kill()
    process.join()
    return folder


@pytest.fixture
def killed(left_by_kill: Path, tmp_path: Path) -> Path:
    """The database of a killed process, with what is beside it, to be damaged."""
    shutil.copytree(left_by_kill, tmp_path, dirs_exist_ok=True)
    return tmp_path / "trials.db"


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _marker(path: Path) -> Path:
    return path.with_name(f"{path.name}-progress")


def _copy(path: Path, to: Path, *suffixes: str) -> Path:
    for suffix in suffixes:
        shutil.copyfile(f"{path}{suffix}", f"{to}{suffix}")
    return to


def _filled(path: Path, count: int = 3) -> Path:
    """A database that was closed."""
    with closing(SqliteStore(path)) as store:
        fill(store, make_trial(store), *(record(n) for n in range(1, count + 1)))
    return path


def _add(path: Path, position: int) -> None:
    with closing(SqliteStore(path)) as store:
        fill(store, 1, record(position))


def _opened(path: Path) -> tuple[bool, int | None, int]:
    """Whether it was restored, how many records are lost and how many are there, when it is opened to write."""
    with closing(SqliteStore(path)) as store, store.reading() as view:
        return store.was_restored, store.n_lost, view.count_records()


def _n_lost(path: Path) -> int | None:
    """How many records it lacks by the error that refuses it; the refusal changes nothing."""
    before = path.read_bytes(), _marker(path).exists() and _marker(path).read_bytes()
    wal = _wal(path).read_bytes() if _wal(path).exists() else b""
    with pytest.raises(RecordsLostError) as refused:
        SqliteStore(path)
    assert f"adhere trial accept-loss {path} --reason" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert (path.read_bytes(), _marker(path).exists() and _marker(path).read_bytes()) == before
    assert _wal(path).read_bytes() == wal
    with closing(SqliteStore(path, read_only=True)) as store:
        store.check()
    return refused.value.n_lost


def test_a_killed_process_with_all_its_files(killed: Path) -> None:
    assert _wal(killed).stat().st_size > N_RECORDS * FRAME
    assert _opened(killed) == (False, 0, N_RECORDS)
    assert _opened(killed) == (False, 0, N_RECORDS)


def test_a_deleted_log_is_noticed_and_can_be_put_back(killed: Path) -> None:
    _wal(killed).rename(killed.with_name("found"))
    assert _n_lost(killed) == N_RECORDS
    killed.with_name("found").replace(_wal(killed))
    assert _opened(killed) == (False, 0, N_RECORDS)


def test_a_log_cut_to_half_is_noticed(killed: Path) -> None:
    os.truncate(_wal(killed), _wal(killed).stat().st_size // 2)
    lost = _n_lost(killed)
    assert lost is not None
    assert 0 < lost < N_RECORDS


def test_a_log_without_its_last_frame_is_noticed(killed: Path) -> None:
    os.truncate(_wal(killed), _wal(killed).stat().st_size - FRAME)
    assert _n_lost(killed) == 1


def test_without_log_and_marker_nobody_can_tell(killed: Path) -> None:
    _wal(killed).unlink()
    _marker(killed).unlink()
    assert _n_lost(killed) is None


def test_without_the_marker_nobody_can_tell_either(killed: Path) -> None:
    _marker(killed).unlink()
    assert _n_lost(killed) is None


def test_without_anything_beside_it_nobody_can_tell(killed: Path) -> None:
    for path in killed.parent.glob("trials.db-*"):
        path.unlink()
    assert _n_lost(killed) is None


@pytest.mark.parametrize("how", ["cut", "changed", "empty", "longer", "text"])
def test_a_damaged_marker_is_none(killed: Path, how: str) -> None:
    data = _marker(killed).read_bytes()
    damaged = {
        "cut": data[:100],
        "changed": data.replace(b"open", b"oven"),
        "empty": b"",
        "longer": data + b" ",
        "text": b"hello",
    }[how]
    _marker(killed).write_bytes(damaged)
    assert _n_lost(killed) is None


def test_a_damaged_marker_of_a_closed_file(tmp_path: Path) -> None:
    path = _filled(tmp_path / "trials.db")
    _marker(path).write_bytes(b"hello")
    assert _opened(path) == (True, 0, 3)


def test_a_log_that_another_program_moved_into_the_database_is_no_loss(killed: Path) -> None:
    with closing(sqlite3.connect(killed)) as another:
        another.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        another.execute("PRAGMA journal_mode = DELETE").fetchone()
    assert not _wal(killed).exists()
    assert _opened(killed) == (False, 0, N_RECORDS)


def test_a_marker_older_than_the_database_is_no_loss(killed: Path, tmp_path: Path) -> None:
    """A power cut leaves the last marker that was synced."""
    with closing(SqliteStore(killed)) as store:
        fill(store, 1, record(N_RECORDS + 1))
        synced = _marker(killed).read_bytes()
        fill(store, 1, record(N_RECORDS + 2))
        _copy(killed, tmp_path / "cut.db", "", "-wal")
    (tmp_path / "cut.db-progress").write_bytes(synced)
    assert _opened(tmp_path / "cut.db") == (False, 0, N_RECORDS + 2)


def test_closed_and_started_again(tmp_path: Path) -> None:
    path = _filled(tmp_path / "trials.db")
    assert _marker(path).stat().st_mode & 0o777 == 0o600
    for n in range(3):
        assert b" closed " in _marker(path).read_bytes()
        assert _opened(path) == (False, 0, 3 + n)
        _add(path, 4 + n)


@pytest.mark.parametrize("is_closed", [False, True])
def test_an_older_copy_in_its_place_is_noticed(tmp_path: Path, is_closed: bool) -> None:
    path, old = _filled(tmp_path / "trials.db"), tmp_path / "old.db"
    if is_closed:
        shutil.copyfile(path, old)
        _add(path, 4)
    else:
        with closing(SqliteStore(path)) as store:
            with store.writing():  # which takes possession
                pass
            shutil.copyfile(path, old)
            fill(store, 1, record(4))
    shutil.copyfile(old, path)
    assert _n_lost(path) == 1


def test_an_emptied_or_deleted_file_is_noticed(tmp_path: Path) -> None:
    path = _filled(tmp_path / "trials.db")
    path.write_bytes(b"")
    with pytest.raises(RecordsLostError, match="has 3 records fewer than were acknowledged"):
        SqliteStore(path)
    path.unlink()
    with pytest.raises(StoreError, match=r"trials\.db does not exist, but trials\.db-progress does"):
        SqliteStore(path)
    assert not path.exists()


def test_a_backup_in_another_place_is_restored_until_it_is_taken_possession_of(tmp_path: Path) -> None:
    path, copy = tmp_path / "trials.db", tmp_path / "copy.db"
    with closing(SqliteStore(_filled(path))) as store:
        store.backup(copy)
    for _ in range(2):
        assert _opened(copy) == (True, 0, 3)
        assert not _marker(copy).exists()
    with closing(SqliteStore(copy)) as store:

        def fail() -> None:
            with store.writing() as transaction:
                append(transaction, 1, record(4))
                assert transaction.take_possession()
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fail()
        assert store.was_restored
        with store.writing() as transaction:
            append(transaction, 1, record(4))
            assert transaction.take_possession()
            assert not transaction.take_possession()
        assert not store.was_restored
        with store.writing() as transaction:
            assert not transaction.take_possession()
    assert _opened(copy) == (False, 0, 4)


def test_a_backup_over_the_file(tmp_path: Path) -> None:
    path, copy = _filled(tmp_path / "trials.db"), tmp_path / "copy.db"
    with closing(SqliteStore(path)) as store:
        store.backup(copy)
    shutil.copyfile(copy, path)
    assert _opened(path) == (True, 0, 3)
    _add(copy, 4)
    shutil.copyfile(copy, path)
    assert _opened(path) == (True, 0, 4)


def test_a_moved_file(tmp_path: Path, killed: Path) -> None:
    path, to = _filled(tmp_path / "closed.db"), tmp_path / "moved.db"
    path.rename(to)
    _marker(path).rename(_marker(to))
    assert _opened(to) == (False, 0, 3)
    to.rename(path)
    assert _opened(path) == (True, 0, 3)
    _copy(killed, to, "", "-wal", "-progress")
    assert _opened(to) == (False, 0, N_RECORDS)


def test_beside_the_marker_of_another_store(tmp_path: Path, killed: Path) -> None:
    path, other = _filled(tmp_path / "mine.db"), _filled(tmp_path / "other.db", 9)
    shutil.copyfile(_marker(other), _marker(path))
    assert _opened(path) == (True, 0, 3)
    shutil.copyfile(_marker(other), _marker(killed))
    assert _n_lost(killed) is None


def test_a_loss_is_accepted(killed: Path) -> None:
    _wal(killed).unlink()
    with closing(SqliteStore(killed, accepts_loss=True)) as store:
        assert (store.was_restored, store.n_lost) == (True, N_RECORDS)
    assert _n_lost(killed) == N_RECORDS  # until possession is taken
    with closing(SqliteStore(killed, accepts_loss=True)) as store, store.writing() as transaction:
        assert transaction.take_possession()
    assert _opened(killed) == (False, 0, 0)
    with closing(SqliteStore(killed, accepts_loss=True)) as store:
        assert (store.was_restored, store.n_lost) == (False, 0)


@pytest.mark.parametrize("change", [Path.unlink, lambda marker: shutil.copyfile(marker, f"{marker}.new")])
def test_a_marker_that_goes_away_is_made_again(tmp_path: Path, change: Callable[[Path], object]) -> None:
    path, crashed = tmp_path / "trials.db", tmp_path / "crashed.db"
    with closing(SqliteStore(path)) as store:
        fill(store, make_trial(store), record(1))
        change(_marker(path))
        if _marker(path).exists():
            _marker(path).with_name("trials.db-progress.new").replace(_marker(path))
        fill(store, 1, record(2))
        fill(store, 1, record(3))
        _copy(path, crashed, "", "-wal", "-progress")
    assert _opened(crashed) == (False, 0, 3)
    assert _opened(path) == (False, 0, 3)


def test_what_the_marker_cannot_count_is_not_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, crashed = tmp_path / "trials.db", tmp_path / "crashed.db"
    with closing(SqliteStore(path)) as store:
        trial = make_trial(store)

        def fail(*_: object) -> int:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", fail)
            with pytest.raises(OutcomeUnknownError, match="-progress cannot be written"):
                fill(store, trial, record(1))
        with store.writing():  # in which the same request finds its record
            pass
        _copy(path, crashed, "", "-progress")
    assert _n_lost(crashed) == 1


def test_to_open_a_file_changes_nothing_until_something_is_written(tmp_path: Path) -> None:
    path = _filled(tmp_path / "trials.db")
    before = path.read_bytes(), _marker(path).read_bytes()
    SqliteStore(path).close()
    with closing(SqliteStore(path)) as store, pytest.raises(ZeroDivisionError), store.writing():
        raise ZeroDivisionError
    assert (path.read_bytes(), _marker(path).read_bytes()) == before


def test_a_discarded_file_leaves_no_marker(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "trials.db").discard()
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_keeps_the_possession_in_the_log_delays_it_only(tmp_path: Path) -> None:
    path, alone = _filled(tmp_path / "trials.db"), tmp_path / "alone.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM trials").fetchall()
        with closing(SqliteStore(path)) as store:
            fill(store, 1, record(4))
            shutil.copyfile(path, alone)
            assert _opened(alone) == (True, 0, 3)
            reader.execute("COMMIT")
            fill(store, 1, record(5))
            shutil.copyfile(path, alone)
    assert _n_lost(alone) is None


class Crashes:
    """Copies of a database's files at each moment at which a kill -9 may find them, and the records acknowledged."""

    def __init__(self, path: Path) -> None:
        self._path, self._copies, self.n_acknowledged = path, path.parent / "copies", 0
        self._copies.mkdir()
        self._numbers = count()  # a service of other tests may call what is patched meanwhile, in its own thread
        self.found: list[tuple[Path, int]] = []

    def note(self) -> None:
        folder = self._copies / str(next(self._numbers))
        folder.mkdir()
        for suffix in ("", "-wal", "-progress"):
            if Path(f"{self._path}{suffix}").exists():
                shutil.copyfile(f"{self._path}{suffix}", folder / f"{self._path.name}{suffix}")
        self.found.append((folder / self._path.name, self.n_acknowledged))

    def around(self, patched: pytest.MonkeyPatch, owner: type, *names: str) -> None:
        for name in names:
            patched.setattr(owner, name, self._noting(getattr(owner, name)))

    def _noting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*arguments: Any, **options: Any) -> Any:
            self.note()
            result = function(*arguments, **options)
            self.note()
            return result

        return noting


@pytest.fixture
def crashes(tmp_path: Path) -> Iterator[Crashes]:
    crashes = Crashes(tmp_path / "trials.db")
    with pytest.MonkeyPatch.context() as patched:
        crashes.around(patched, ProgressFile, "write", "_make", "close")
        crashes.around(patched, Possession, "examine", "before_commit", "after_commit", "has_closed", "close")
        crashes.around(patched, SqliteStore, "_move_log", "_close")
        yield crashes


@pytest.mark.slow
def test_no_crash_gives_a_false_alarm_nor_hides_a_loss(tmp_path: Path, crashes: Crashes) -> None:
    path = tmp_path / "trials.db"
    for opening in range(3):
        with closing(SqliteStore(path)) as store:
            if not opening:
                make_trial(store)
            for n in range(2):
                fill(store, 1, record(2 * opening + n + 1))
                crashes.n_acknowledged += 1
    found = list(crashes.found)
    assert len(found) > 100
    n_lost = 0
    for copy, n_acknowledged in found:
        if copy.exists() and _wal(copy).exists():
            alone = copy.with_name("alone.db")
            _copy(copy, alone, "")
            if _marker(copy).exists():
                shutil.copyfile(_marker(copy), _marker(alone))
            with closing(sqlite3.connect(f"file:{alone}?mode=ro", uri=True)) as database:
                has_trials = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'trials'").fetchone()
                sql = "SELECT coalesce(sum(position), 0) FROM trials"
                n_there = database.execute(sql).fetchone()[0] if has_trials else 0
            if n_there < n_acknowledged:
                assert _n_lost(alone)
                n_lost += 1
        was_restored, lost, n_records = _opened(copy)
        assert (was_restored, lost) == (False, 0)
        assert n_acknowledged <= n_records <= n_acknowledged + 1
    assert n_lost > 10


@pytest.mark.parametrize("suffixes", [("",), ("", "-progress")])
def test_no_crash_forgets_a_loss_that_is_being_accepted(
    killed: Path, crashes: Crashes, suffixes: tuple[str, ...]
) -> None:
    for path in killed.parent.glob("trials.db-*"):
        if path.name.removeprefix("trials.db") not in suffixes:
            path.unlink()
    with closing(SqliteStore(killed, accepts_loss=True)) as store, store.writing() as transaction:
        transaction.take_possession()
    outcomes: list[object] = []
    for copy, _ in list(crashes.found):
        try:
            outcomes.append(_opened(copy))
        except RecordsLostError as error:
            outcomes.append(error.n_lost)
    refused, normal = N_RECORDS if "-progress" in suffixes else None, (False, 0, 0)
    n_refused = outcomes.count(refused)
    assert outcomes == [refused] * n_refused + [normal] * (len(outcomes) - n_refused)
    assert 3 < n_refused < len(outcomes) - 3


# In a process on the faulty disk: open, append, close, again and again, and cut the power after so many steps.
CUT = """
import os, signal, sys
from pathlib import Path
from adhere.store.sqlite import SqliteStore
from store.places import fill, make_trial, record

path, n_steps = Path(sys.argv[1]), int(sys.argv[2])

def step(function):
    global n_steps
    if not n_steps:
        os.kill(os.getpid(), signal.SIGKILL)
    n_steps -= 1
    return function()

for opening in range(2):
    store = step(lambda: SqliteStore(path))
    if not opening:
        step(lambda: make_trial(store))
    step(lambda: fill(store, 1, record(opening + 1)))
    step(store.close)
step(list)
"""


@pytest.mark.parametrize("n_steps", range(1, 8))
def test_a_power_cut_gives_no_false_alarm(tmp_path: Path, n_steps: int) -> None:
    disk = FaultyDisk(tmp_path / "disk")
    environment = disk.environment()
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), environment.get("PYTHONPATH", "")])
    path = disk.folder / "trials.db"
    done = subprocess.run([sys.executable, "-c", CUT, str(path), str(n_steps)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    disk.after_power_cut(random.Random(n_steps))
    assert _opened(path) == (False, 0, sum(n_steps >= step for step in (3, 6)))


@pytest.mark.parametrize("takes", [False, True])
def test_a_backup_that_is_restored_brings_its_own_marker(killed: Path, takes: bool) -> None:
    backup = killed.with_name("backup.db")
    with closing(SqliteStore(_copy(killed, killed.with_name("source.db"), "", "-wal", "-progress"))) as store:
        store.backup(backup)
    with closing(SqliteStore(killed)) as store:
        fill(store, 1, record(N_RECORDS + 1))
    with restoring(backup, killed, replace=True) as (copy, kept):
        assert copy.was_restored
        if takes:
            with copy.writing() as transaction:
                append(transaction, 1, record(N_RECORDS + 1))
                append(transaction, 1, record(N_RECORDS + 2))
                transaction.take_possession()
    assert kept is not None
    assert _opened(kept) == (False, 0, N_RECORDS + 1)
    assert _opened(killed) == (not takes, 0, N_RECORDS + 2 * takes)
    assert _marker(killed).exists() == takes
    assert not list(killed.parent.glob(".*"))


def test_a_copy_of_a_crashed_file_can_be_restored(killed: Path) -> None:
    _marker(killed).unlink()
    with restoring(killed, killed.with_name("new.db"), replace=False) as (copy, _):
        assert copy.was_restored
    assert _opened(killed.with_name("new.db")) == (True, 0, N_RECORDS)


def test_a_restore_in_the_place_of_a_lost_file(tmp_path: Path) -> None:
    path, backup = _filled(tmp_path / "trials.db"), tmp_path / "backup.db"
    with closing(SqliteStore(path)) as store:
        store.backup(backup)
        fill(store, 1, record(4))
    path.unlink()
    with restoring(backup, path, replace=False) as (_, kept):
        assert kept is None
    assert _opened(path) == (True, 0, 3)
