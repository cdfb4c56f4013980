"""How much memory there is, and how amounts of it are written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def available_memory() -> int | None:
    """How many bytes this process may still take; None if the system does not say."""
    known = []
    with suppress(OSError, ValueError, IndexError):  # Linux
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        known += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # in a container, whose limit is lower
        group = Path("/sys/fs/cgroup")
        limit, used = (int((group / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        known.append(max(0, limit - used))
    if not known:
        with suppress(OSError, ValueError, AttributeError):  # other kinds of Unix
            known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(known, default=None)


def bytes_text(n_bytes: float) -> str:
    """An amount of memory.

    >>> bytes_text(5760), bytes_text(48_000_000)
    ('5.8 kB', '48 MB')
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.2g} {unit}" if n_bytes < 10 else f"{n_bytes:.0f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} TB"
