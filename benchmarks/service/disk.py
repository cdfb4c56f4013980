"""What a commit costs on this disk: the time of an fsync, where the databases are."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.cpu.measuring import timed

_BLOCK = bytes(4096)


def fsync_ms(folder: Path, count: int) -> list[float]:
    """Milliseconds of so many appends of 4 KB, each with its fsync."""
    path = folder / "fsync"
    file = os.open(path, os.O_WRONLY | os.O_CREAT)

    def append() -> None:
        os.write(file, _BLOCK)
        os.fsync(file)

    try:
        return [1e3 * timed(append) for _ in range(count)]
    finally:
        os.close(file)
        path.unlink()


def file_system(folder: Path) -> str:
    """The kind of file system a folder is on."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    under = [(Path(point), kind) for point, kind in mounts if folder.resolve().is_relative_to(point)]
    return max(under, key=lambda mount: len(mount[0].parts))[1]
