"""Available memory, and text for amounts of memory."""

import errno
import mmap
import os
from contextlib import suppress
from pathlib import Path

# Messages of Python's threads, of the library loader, of C code that cannot even make an exception, and of OpenSSL's
# hashes. Each comes with a different type of error.
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
    """Return how many bytes this process may still allocate, or None if the system does not tell."""
    known = []
    with suppress(OSError, ValueError, IndexError):  # Linux
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        known += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # in a container, which may have a lower limit
        group = Path("/sys/fs/cgroup")
        limit, used = (int((group / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        known.append(max(0, limit - used))
    if not known:
        with suppress(OSError, ValueError, AttributeError):  # other kinds of Unix
            known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(known, default=None)


def check_room(n_bytes: int) -> None:
    """Raise a `MemoryError` if this process cannot get this much address space, since some libraries would then end
    it.
    """
    try:
        mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE).close()
    except (OSError, ValueError):
        raise MemoryError(f"no room for {bytes_text(n_bytes)}") from None


def is_shortage(error: BaseException) -> bool:
    """Return whether an error was caused by a lack of memory, or of space for a thread or a library.

    >>> is_shortage(RuntimeError("can't start new thread")), is_shortage(ImportError("no module named x"))
    (True, False)
    """
    if isinstance(error, (RuntimeError, ImportError, SystemError, ValueError)):
        return any(words in str(error) for words in _SHORTAGE)
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def bytes_text(n_bytes: float) -> str:
    """Return an amount of memory as text.

    >>> bytes_text(5760), bytes_text(48_000_000)
    ('5.8 kB', '48 MB')
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.2g} {unit}" if n_bytes < 10 else f"{n_bytes:.0f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} TB"
