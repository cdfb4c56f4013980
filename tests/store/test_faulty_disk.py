"""The faulty disk must lose and fail what it says, or the tests that rest on it prove nothing."""

from __future__ import annotations

import errno
import random
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest

from .faulty_disk import PAGE, FaultyDisk, compiled

START = """
import errno, functools, os, signal, sqlite3, subprocess, sys, threading
import faulty_disk

print = functools.partial(print, flush=True)

def connect(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma journal_mode = wal")
    database.execute("pragma synchronous = full")
    database.execute("create table if not exists entries (entry integer primary key, filler)")
    return database

def commit(database, path, entry):
    database.execute("insert into entries values (?, ?)", (entry, "x" * 1000))
    print(path, entry)

def write(name, contents, sync=True):
    with open(name, "wb", buffering=0) as file:
        file.write(contents)
        if sync:
            os.fsync(file)

def sync(name):
    os.fsync(os.open(name, os.O_RDONLY))

def power_cut():
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def disk(tmp_path: Path) -> FaultyDisk:
    return FaultyDisk(tmp_path / "data")


def run(disk: FaultyDisk, program: str, environment: dict[str, str] | None = None) -> str:
    """What a program in the disk's folder printed until it cut the power."""
    command = [sys.executable, "-S", "-c", START + program]
    variables = {**(environment or disk.environment()), "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, cwd=disk.folder, env=variables, stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    return done.stdout


def acknowledged(output: str) -> dict[str, set[int]]:
    entries = defaultdict(set)
    for line in output.splitlines():
        path, entry = line.split()
        entries[path].add(int(entry))
    return entries


def surviving(path: Path) -> set[int]:
    """The entries of a database that recovers after the power cut, and is whole."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma synchronous = off")
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
        return {entry for (entry,) in database.execute("select entry from entries")}


@pytest.mark.parametrize(("synchronous", "left"), [("full", {*range(60)}), ("off", {0})])
def test_a_power_cut_leaves_the_commits_sqlite_synced(disk: FaultyDisk, synchronous: str, left: set[int]) -> None:
    program = f"""
database = connect("trial.db")
commit(database, "trial.db", 0)
database.execute("pragma synchronous = {synchronous}")
database.execute("pragma wal_autocheckpoint = 20")
for entry in range(1, 60):
    commit(database, "trial.db", entry)
power_cut()
"""
    assert acknowledged(run(disk, program)) == {"trial.db": {*range(60)}}
    disk.after_power_cut()
    assert surviving(disk.folder / "trial.db") == left


def test_a_disk_that_wrote_some_of_the_rest_breaks_no_commit(disk: FaultyDisk) -> None:
    program = """
databases = {}
for path in (f"{i}.db" for i in range(10)):
    database = databases[path] = connect(path)
    for entry in range(5):
        commit(database, path, entry)
    database.execute("pragma cache_size = 2")  # so that much of what follows is written though it is not committed
    database.execute("begin")
    database.executemany("insert into entries values (?, ?)", ((entry, "y" * 1000) for entry in range(100, 150)))
power_cut()
"""
    commits = acknowledged(run(disk, program))
    logs = [disk.folder / f"{path}-wal" for path in commits]
    written = [log.stat().st_size for log in logs]
    disk.after_power_cut(random.Random(5))
    kept = [log.stat().st_size for log in logs]
    assert 0 < sum(kept) < sum(written)
    assert max(kept) == max(written)
    assert {path: surviving(disk.folder / path) for path in commits} == commits


def test_luck_keeps_some_pages_and_the_old_ones_of_the_rest(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a" * 64 * PAGE)
    disk = FaultyDisk(tmp_path)
    run(disk, f"write('file', b'b' * 64 * {PAGE}, sync=False)\npower_cut()")
    disk.after_power_cut(random.Random(1))
    contents = (tmp_path / "file").read_bytes()
    assert {contents[at : at + PAGE] for at in range(0, 64 * PAGE, PAGE)} == {b"a" * PAGE, b"b" * PAGE}


def test_what_is_synced_survives_and_nothing_else(disk: FaultyDisk) -> None:
    program = """
for folder in ("named", "renamed", "moving", "reused"):
    os.mkdir(folder)
write("synced", b"synced")
write("unsynced", b"unsynced", sync=False)
write("flushed", b"flushed", sync=False)
with open("flushed", "rb") as file:  # whoever syncs a file syncs what others wrote
    os.fdatasync(file)
write("grown", b"short")
with open("grown", "ab") as file:
    file.write(b" and long")
for name in ("cut", "uncut"):
    write(name, b"long")
    file = os.open(name, os.O_RDWR)
    os.ftruncate(file, 1)
    if name == "cut":
        os.fsync(file)
    os.ftruncate(file, 3)
write("vectors", b"......")
file = os.open("vectors", os.O_RDWR)
os.writev(file, [b"a", b"b"])
os.pwritev(file, [b"e", b"f"], 4)
os.pwrite(file, b"c", 2)
os.fsync(file)
os.pwrite(file, b"d", 3)
write("named/file", b"never synced itself", sync=False)
sync("named")
write("named/later", b"after the sync", sync=False)
for folder in ("renamed", "moving"):
    write(f"{folder}/file", b"old")
    write(f"{folder}/new", b"new")
    os.rename(f"{folder}/new", f"{folder}/file")
sync("renamed")
write("removed", b"removed")
os.unlink("removed", dir_fd=os.open(".", os.O_RDONLY))
write("reused/old", b"old")
os.unlink("reused/old")
write("reused/new", b"this file may have the inode number of the other", sync=False)
sync("reused")
write("trial.db-shm", b"shared memory")
power_cut()
"""
    run(disk, program)
    disk.after_power_cut()
    files = [path for path in disk.folder.rglob("*") if path.is_file()]
    assert {str(file.relative_to(disk.folder)): file.read_bytes() for file in files} == {
        "synced": b"synced",
        "flushed": b"flushed",
        "grown": b"short",
        "cut": b"l",
        "uncut": b"long",
        "vectors": b"abc.ef",
        "named/file": b"",
        "renamed/file": b"new",
        "moving/file": b"old",
        "moving/new": b"new",
        "reused/new": b"",
    }


def test_processes_and_threads_share_one_disk(disk: FaultyDisk) -> None:
    program = """
write("for the child", b"by the parent", sync=False)
write("for another", b"by the parent", sync=False)
faulty_disk.arm(0)

def use_disk(name, together):
    file = os.open(name, os.O_RDWR | os.O_CREAT)
    for i in range(4):
        os.pwrite(file, f"{name} {i}".encode() * 500_000, 0)
        together.wait()
        os.fdatasync(file)

together = threading.Barrier(4)
threads = [threading.Thread(target=use_disk, args=(str(i), together)) for i in range(4)]
for thread in threads:
    thread.start()
child = os.fork()
if child == 0:
    use_disk("4", threading.Barrier(1))
    os.fsync(os.open("for the child", os.O_RDONLY))
    os._exit(0)
sync_it = "import os; os.fsync(os.open('for another', os.O_WRONLY))"
subprocess.run([sys.executable, "-S", "-c", sync_it], check=True)
os.waitpid(child, 0)
for thread in threads:
    thread.join()
print(faulty_disk.count())
power_cut()
"""
    assert int(run(disk, program)) == 5 * (1 + 2 * 4) + 2
    disk.after_power_cut()
    left = {file.name: file.read_bytes() for file in disk.folder.iterdir()}
    assert left.pop("for the child") == left.pop("for another") == b"by the parent"
    assert left == {name: f"{name} 3".encode() * 500_000 for name in "01234"}


def test_whatever_fails_no_acknowledged_commit_is_lost(disk: FaultyDisk) -> None:
    program = """
kept = []
def work(path):
    database = connect(path)
    kept.append(database)  # closed, it would tidy up
    for entry in range(3):
        commit(database, path, entry)

for error in (errno.EIO, errno.ENOSPC):
    faulty_disk.arm(0, error)
    work(f"{error}.db")
    for n in range(1, faulty_disk.count() + 1):
        for kind in ("passing", "lasting"):
            path = f"{error}-{kind}-{n}.db"
            faulty_disk.arm(n, error, sticky=kind == "lasting")
            try:
                work(path)
            except sqlite3.OperationalError:
                pass
            faulty_disk.arm(0)
            commit(connect(path), path, 100)
power_cut()
"""
    commits = acknowledged(run(disk, program))
    disk.after_power_cut()
    assert len(commits) > 100
    for path, entries in commits.items():
        assert entries <= surviving(disk.folder / path)
        if "lasting" in path:  # one that passes may hit what SQLite can do without
            assert {100} <= entries < {0, 1, 2, 100}


def test_a_commit_raises_at_each_place_where_the_disk_fails(disk: FaultyDisk) -> None:
    program = """
database = connect("trial.db")
for error in (errno.EIO, errno.ENOSPC):
    faulty_disk.arm(0, error)
    commit(database, "trial.db", error)
    for n in range(1, faulty_disk.count() + 1):
        print("places", 1000 * error + n)
        faulty_disk.arm(n, error)
        try:
            commit(database, "trial.db", 1000 * error + n)
        except sqlite3.OperationalError:
            print("raised", 1000 * error + n)
power_cut()
"""
    printed = acknowledged(run(disk, program))
    assert len(printed["places"]) >= 3  # to write and to sync, and again to write
    assert printed["raised"] == printed["places"]
    disk.after_power_cut()
    assert surviving(disk.folder / "trial.db") == printed["trial.db"] == {errno.EIO, errno.ENOSPC}


@pytest.mark.parametrize(("sticky", "outcome"), [(False, "made failed made"), (True, "made failed failed")])
def test_the_environment_names_the_operation_that_fails(disk: FaultyDisk, sticky: bool, outcome: str) -> None:
    program = """
for i in range(3):
    try:
        write(f"{i}", b"x")  # two operations: the sync needs no space
        print("made")
    except OSError as error:
        print("failed" if error.errno == errno.ENOSPC else error)
power_cut()
"""
    environment = disk.environment(fail_at=3, error=errno.ENOSPC, sticky=sticky)
    assert run(disk, program, environment).split() == outcome.split()
    assert run(disk, program).split() == ["made"] * 3


def test_without_a_compiler_the_test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match="gcc"):
        compiled.__wrapped__()
