"""Write files whole or not at all: beside their place first, then renamed into it."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from adhere.errors import InputError

# The machine's state, which may be another soon: no space, no descriptors, no memory, a disk that fails.
_DISK: Final = {errno.EBUSY, errno.EIO, errno.ENOSPC, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)}
_PASSING: Final = _DISK | {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary path in the same folder, renamed to `path` when the block ends and deleted when it raises.

    Permissions of a file that is replaced are kept, and a link goes on pointing to it. A new file that is `private`
    is for its owner only. A device or a pipe is given as it is: it must be written into, not replaced.

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
    """Make an empty file that only its owner may read and write, whatever the process's umask; it must be new."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600))


def write_file(path: Path, content: bytes) -> None:
    """Write a file, and the folders that lead to it, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def unreadable(field: str, path: object, error: OSError) -> InputError:
    """What to say of a file that could not be read."""
    missing = isinstance(error, FileNotFoundError)
    sentence = f"{path} does not exist" if missing else f"{path} cannot be read: {error.strerror or error}"
    named = sentence if field == "file" else f"{field}: {sentence}"
    return InputError(field, str(path), "a file that can be read", named)


def may_pass(error: OSError) -> bool:
    """Return whether an error is about the machine's state for now, and not about the path that was given.

    >>> may_pass(OSError(errno.ENOSPC, "No space left on device")), may_pass(FileNotFoundError(errno.ENOENT, ""))
    (True, False)
    """
    return error.errno in _PASSING


def is_device(path: Path) -> bool:
    """Whether a path is something that can be written into but not replaced, such as a pipe."""
    return path.exists() and not path.is_file()
