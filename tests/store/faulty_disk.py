"""A folder on a disk that loses what was not synced when the power goes, and fails when told to.

The disk is `faulty_disk.c`, put between a process and the C library; that file says what counts as synced. A test
starts its process with `FaultyDisk.environment()` and kills it; `FaultyDisk.after_power_cut()` shows what a power cut
would have left. The process itself may call `arm` and `count`, to try in one go all the places where the disk may
fail.
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import functools
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

PAGE = 4096


@functools.cache
def compiled() -> Path:
    """The shim, compiled once for each process that runs tests."""
    compiler = shutil.which("cc")
    if compiler is None:
        import pytest  # here, since the processes on the faulty disk start faster without it

        pytest.fail("The faulty disk needs a C compiler: install the Debian packages gcc and libc6-dev.")
    folder = tempfile.mkdtemp(prefix="faulty-disk-")
    atexit.register(shutil.rmtree, folder)
    shim = Path(folder) / "faulty_disk.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-pthread", "-o", shim, source, "-ldl"], check=True)
    return shim


class FaultyDisk:
    """Whatever lies below `folder`, including what is there already, which counts as synced.

    What is durable is kept beside it, in a folder whose name ends in `-durable`.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder.resolve()
        self._durable = self.folder.with_name(f"{self.folder.name}-durable")
        self._begin()

    def environment(self, fail_at: int = 0, error: int = errno.EIO, *, sticky: bool = False) -> dict[str, str]:
        """The environment for a process on this disk; children of that process are on it, too.

        The operation numbered `fail_at` from its start on fails with `error` (`EIO`, or `ENOSPC`, for which only what
        needs space counts), and with `sticky` every later one. With 0 none does, whatever was armed before.
        """
        return {
            **os.environ,
            "LD_PRELOAD": str(compiled()),
            "FAULTY_DISK_UNDER": str(self.folder),
            "FAULTY_DISK_DURABLE": str(self._durable),
            "FAULTY_DISK_FAIL_AT": str(fail_at),
            "FAULTY_DISK_ERRNO": errno.errorcode[error],
            "FAULTY_DISK_STICKY": str(int(sticky)),
        }

    def after_power_cut(self, luck: random.Random | None = None) -> None:
        """Put into the folder what a power cut leaves of it. All processes on the disk must be dead.

        A disk may also have written some of what it was never told to sync. With `luck` it did: a coin decides for
        each name, page and length that was not synced. What is there then counts as synced, and a test may go on.
        """
        left = self._durable / "left"
        shutil.copytree(self._durable / "names", left)
        if luck is not None:
            self._keep_some(left, luck)
        shutil.rmtree(self.folder)
        left.rename(self.folder)
        self._begin()

    def _begin(self) -> None:
        """Make the durable copy of what is in the folder, as `faulty_disk.c` describes it."""
        shutil.rmtree(self._durable, ignore_errors=True)
        inodes = self._durable / "inodes"
        inodes.mkdir(parents=True)

        def keep(real: str, entry: str) -> None:
            contents = inodes / str(Path(real).stat().st_ino)
            if not contents.exists():
                shutil.copyfile(real, contents)
            os.link(contents, entry)

        never_durable = shutil.ignore_patterns("*-shm")
        shutil.copytree(self.folder, self._durable / "names", ignore=never_durable, copy_function=keep)

    def _keep_some(self, left: Path, luck: random.Random) -> None:
        for real in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            if real.name.endswith("-shm"):
                continue
            name = real.relative_to(self.folder)
            synced = self._durable / "inodes" / str(real.stat().st_ino)
            entry = self._durable / "names" / name
            if not (synced.exists() and entry.exists() and synced.samefile(entry)) and luck.random() < 0.5:
                continue  # a new file, or one renamed, that is not found by this name
            before = synced.read_bytes() if synced.exists() else b""
            (left / name).parent.mkdir(parents=True, exist_ok=True)
            (left / name).write_bytes(_mixed(before, real.read_bytes(), luck))


def _mixed(before: bytes, after: bytes, luck: random.Random) -> bytes:
    """A file on its way from one state to the other: each page, and the length, is the old or the new."""
    length = luck.choice([len(before), len(after)]) if len(before) != len(after) else len(after)
    mixed = bytearray(before.ljust(length, b"\0")[:length])
    for at in range(0, length, PAGE):
        if before[at : at + PAGE] != after[at : at + PAGE] and luck.random() < 0.5:
            page = after[at : min(at + PAGE, length)]
            mixed[at : at + len(page)] = page
    return bytes(mixed)


def arm(n: int, error: int = errno.EIO, *, sticky: bool = False) -> None:
    """In a process on the disk: the `n`-th operation from now on fails with `error`, or none with 0."""
    ctypes.CDLL(None).faulty_disk_arm(ctypes.c_long(n), error, int(sticky))


def count() -> int:
    """In a process on the disk: how many operations since `arm` might have failed with its error."""
    shim = ctypes.CDLL(None)
    shim.faulty_disk_count.restype = ctypes.c_long
    return int(shim.faulty_disk_count())
