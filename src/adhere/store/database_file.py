"""A database's file on the disk: made for its owner only, with one writer."""

import logging
import stat
from pathlib import Path

import filelock

from adhere.errors import FileInUseError, StoreError, StoreUnavailableError
from adhere.files import make_private, may_pass


def file_error(sentence: str, error: OSError) -> StoreError:
    """Return the error of a store whose file the system refused; it says whether that may pass.

    >>> file_error("adhere.db cannot be written", OSError(28, "No space left on device"))
    StoreUnavailableError('adhere.db cannot be written: No space left on device')
    """
    kind = StoreUnavailableError if may_pass(error) else StoreError
    return kind(f"{sentence}: {error.strerror}")


log = logging.getLogger("adhere.store")

WAL, SHM, LOCK, PROGRESS = "-wal", "-shm", "-writer", "-progress"


def beside(path: Path, suffix: str) -> Path:
    """A file beside a database: SQLite's own, the writer's lock or the marker of its progress."""
    return path.with_name(path.name + suffix)


def followed(path: Path) -> Path:
    """The file that a path leads to: a link gets the lock and the write-ahead log of the file it points to."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle
        raise StoreError(f"{path} cannot be reached: its links lead nowhere") from None


def has_wal(path: Path) -> bool:
    """Whether a write-ahead log holds something; a reader may leave an empty one."""
    try:
        return beside(path, WAL).stat().st_size > 0
    except OSError:
        return False


def check_path(path: Path, *, must_exist: bool) -> None:
    """Refuse a path that cannot be a database's."""
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
    """The writer's lock: a file beside the database, which the system unlocks when the process ends."""
    lock = filelock.FileLock(beside(path, LOCK), timeout=0, mode=0o600, thread_local=False)  # any thread may close
    try:
        lock.acquire()
    except filelock.Timeout:
        raise FileInUseError(str(path)) from None
    except OSError as error:
        raise file_error(f"{path} cannot be written", error) from None
    return lock


def left_over(path: Path, suffix: str) -> StoreError:
    """Return the error of a database that is gone, while what was beside it is still there."""
    return StoreError(
        f"{path} does not exist, but {path.name}{suffix} does: the file was deleted or moved. Put it back, or "
        "restore a backup (adhere trial restore); for a new one, delete what is left of the old one first."
    )


def make_file(path: Path) -> bool:
    """Make the file before SQLite does, which would let others read it; its -wal and -shm get the same mode.

    A file that is there keeps its mode: its owner may have let others in. Returns whether it was made.
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
                f"{path} is a file with {found.st_nlink} names (hard links), of which each would get a write-ahead "
                "log of its own: delete the others"
            ) from None
        if found.st_mode & stat.S_IROTH:
            mode = f"{stat.S_IMODE(found.st_mode):04o}"
            log.warning("%s can be read by every user of this machine (mode %s): chmod 600 it", path, mode)
        return False
    except OSError as error:
        raise file_error(f"{path} cannot be written", error) from None


def delete_file(path: Path) -> None:
    """Delete a database and what is beside it; the caller has closed it and has the writer's lock.

    The marker goes first: without its database it would keep a new one from being made.
    """
    for suffix in (PROGRESS, "", WAL, SHM, LOCK):
        beside(path, suffix).unlink(missing_ok=True)
