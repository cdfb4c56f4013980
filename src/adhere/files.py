"""Write files completely or not at all: first to a temporary file beside the target, which is then renamed."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from adhere.errors import InputError

# Temporary states of the machine: no space, no descriptors, no memory, a failing disk.
_DISK: Final = {errno.EBUSY, errno.EIO, errno.ENOSPC, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)}
_PASSING: Final = _DISK | {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the same folder, renamed to `path` when the block ends and deleted if it raises.

    A replaced file keeps its permissions, and a link still points to it afterwards. A new file that is `private` is
    only accessible to its owner. A device or a pipe is yielded itself, since it must be written to rather than
    replaced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "table.csv") as temporary:
    ...         _ = temporary.write_text("arm,reward")
    ...     (Path(folder) / "table.csv").read_text()
    'arm,reward'
    """
    if is_device(path):
        yield path
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if private:
            temporary.unlink(missing_ok=True)
            make_private(temporary)
        yield temporary
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def make_private(path: Path) -> None:
    """Make a new empty file that only its owner may read and write, whatever the process's umask."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600))


def write_file(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, and create its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def unreadable(field: str, path: object, error: OSError) -> InputError:
    """Return the error about a file that could not be read."""
    missing = isinstance(error, FileNotFoundError)
    sentence = f"{path} does not exist" if missing else f"{path} cannot be read: {error.strerror or error}"
    named = sentence if field == "file" else f"{field}: {sentence}"
    return InputError(field, str(path), "a file that can be read", named)


def may_pass(error: OSError) -> bool:
    """Return whether an error is about a temporary state of the machine rather than about the given path.

    >>> may_pass(OSError(errno.ENOSPC, "No space left on device")), may_pass(FileNotFoundError(errno.ENOENT, ""))
    (True, False)
    """
    return error.errno in _PASSING


def is_device(path: Path) -> bool:
    """Return whether a path can be written to but not replaced, e.g. a pipe."""
    return path.exists() and not path.is_file()
