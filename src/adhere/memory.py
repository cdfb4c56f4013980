"""How much memory there is, and how amounts of it are written."""

import errno
import mmap
import os
from contextlib import suppress
from pathlib import Path

# Said by Python's threads, by the loader of libraries, by C code that cannot even make an exception, and by OpenSSL's
# hashes, each with an error of its own kind.
_SHORTAGE = (
    "can't start new thread",
    "can't allocate",  # a lock
    "failed to map segment",
    "annot allocate memory",
    "returned NULL without setting an exception",
    "error return without exception set",
    "digital envelope routines",
    "malloc failure",
)


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


def check_room(n_bytes: int) -> None:
    """Raise a `MemoryError` if this process cannot get so much address space: some libraries end it in that case."""
    try:
        mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE).close()
    except (OSError, ValueError):
        raise MemoryError(f"no room for {bytes_text(n_bytes)}") from None


def is_shortage(error: BaseException) -> bool:
    """Return whether something failed for lack of memory, or of room for a thread or a library.

    >>> is_shortage(RuntimeError("can't start new thread")), is_shortage(ImportError("no module named x"))
    (True, False)
    """
    if isinstance(error, (RuntimeError, ImportError, SystemError, ValueError)):
        return any(words in str(error) for words in _SHORTAGE)
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


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
