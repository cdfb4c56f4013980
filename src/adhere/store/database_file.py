"""Manage a database's file on disk: only its owner may read it, and only one process writes it."""

import logging
import stat
from pathlib import Path

import filelock

from adhere.errors import FileInUseError, StoreError, StoreUnavailableError
from adhere.files import make_private, may_pass


def file_error(sentence: str, error: OSError) -> StoreError:
    """Return the error for a database file that the system refused to access. The error's type tells whether the
    fault may be temporary.

    >>> file_error("adhere.db cannot be written", OSError(28, "No space left on device"))
    StoreUnavailableError('adhere.db cannot be written: No space left on device')
    """
    kind = StoreUnavailableError if may_pass(error) else StoreError
    return kind(f"{sentence}: {error.strerror}")


log = logging.getLogger("adhere.store")

WAL, SHM, LOCK, PROGRESS = "-wal", "-shm", "-writer", "-progress"


def beside(path: Path, suffix: str) -> Path:
    """Return a file beside a database: one of SQLite's own, the writer's lock, or the progress marker."""
    return path.with_name(path.name + suffix)


def followed(path: Path) -> Path:
    """Return the file that a path leads to. A link uses the lock and the write-ahead log of its target."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle
        raise StoreError(f"{path} cannot be reached: its links lead nowhere") from None


def has_wal(path: Path) -> bool:
    """Return whether a write-ahead log has content. A reader may leave an empty log."""
    try:
        return beside(path, WAL).stat().st_size > 0
    except OSError:
        return False


def check_path(path: Path, *, must_exist: bool) -> None:
    """Refuse a path that cannot be a database."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder: give the name of a file in it")
        if must_exist and not path.is_file():
            raise StoreError(f"{path} does not exist")
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be written: folder {path.parent} does not exist")
    except OSError as error:
        raise file_error(f"{path} cannot be reached", error) from None


def lock_writer(path: Path) -> filelock.BaseFileLock:
    """Take the writer's lock: a file beside the database, which the system unlocks when the process ends."""
    lock = filelock.FileLock(beside(path, LOCK), timeout=0, mode=0o600, thread_local=False)  # any thread may close
    try:
        lock.acquire()
    except filelock.Timeout:
        raise FileInUseError(str(path)) from None
    except OSError as error:
        raise file_error(f"{path} cannot be written", error) from None
    return lock


def left_over(path: Path, suffix: str) -> StoreError:
    """Return the error for a missing database with files still beside it."""
    return StoreError(
        f"{path} does not exist, but {path.name}{suffix} does: the file was deleted or moved. Put it back, or "
        "restore a backup (adhere trial restore); to start a new one, first delete the files left of the old one."
    )


def make_file(path: Path) -> bool:
    """Create the file before SQLite does, so that other users cannot read it. Return whether it was created.

    SQLite gives its -wal and -shm files the same mode. An existing file keeps its mode, because its owner may have
    given others access.
    """
    try:
        if not path.exists() and has_wal(path):
            raise left_over(path, WAL)
        make_private(path)
        return True
    except FileExistsError:
        found = path.stat()
        if found.st_nlink > 1:
            raise StoreError(
                f"{path} is a file with {found.st_nlink} names (hard links), and each would get its own write-ahead "
                "log: delete the other names"
            ) from None
        if found.st_mode & stat.S_IROTH:
            mode = f"{stat.S_IMODE(found.st_mode):04o}"
            log.warning("%s can be read by every user of this machine (mode %s): chmod 600 it", path, mode)
        return False
    except OSError as error:
        raise file_error(f"{path} cannot be written", error) from None


def delete_file(path: Path) -> None:
    """Delete a database and the files beside it. The caller has closed it and has the writer's lock.

    The marker is deleted first: without its database it would prevent the creation of a new one.
    """
    for suffix in (PROGRESS, "", WAL, SHM, LOCK):
        beside(path, suffix).unlink(missing_ok=True)
