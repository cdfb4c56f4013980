"""Replace a SQLite database by a backup: the copy is checked beside the target, then moved there in one step."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from adhere.errors import StoreError
from adhere.files import make_private
from adhere.store.database_file import LOCK, PROGRESS, SHM, WAL, beside, check_path, followed, has_wal, lock_writer
from adhere.store.possession import DISOWN, sync_folder
from adhere.store.sqlite import SqliteStore


@contextmanager
def restoring(backup: Path, into: Path, *, replace: bool) -> Iterator[tuple[SqliteStore, Path | None]]:
    """Yield a checked copy of a backup, and the name that the replaced file will get (None: there is no such file).

    When the block ends, the copy is moved into place; if it raises, nothing has changed. Within the block, the caller
    may check the copy further, write to it and take possession of it: the copy's `was_restored` is true. The target
    may exist only if `replace` is true. No service may write to it meanwhile.
    """
    target = followed(into)
    check_path(backup, must_exist=True)
    check_path(target, must_exist=False)
    lock = lock_writer(target)
    part = target.with_name(f".{target.name}.{os.getpid()}")
    for left in target.parent.glob(f".{target.name}.*"):
        left.unlink()  # left by a restore that was killed; it had the lock, as this one does now
    try:
        kept = _kept_name(backup, target, replace)
        _copy(backup, part)
        with closing(SqliteStore(part, is_copy=True)) as copy:
            yield copy, kept
        _move(part, target, kept)
    except OSError as error:
        raise StoreError(f"{into} cannot be written: {error.strerror}") from None
    finally:
        for suffix in ("", WAL, SHM, LOCK, PROGRESS):
            beside(part, suffix).unlink(missing_ok=True)
        if not target.exists():  # the restore was refused, so nobody needs the lock
            beside(target, LOCK).unlink(missing_ok=True)
        lock.release()


def _kept_name(backup: Path, target: Path, replace: bool) -> Path | None:
    if not target.exists():
        if has_wal(target):
            raise StoreError(f"{target.name}{WAL} exists without {target.name}: move it away first")
        return None
    if target.samefile(backup):
        raise StoreError(f"{backup} is the target itself: give a backup")
    if not replace:
        raise StoreError(f"{target} exists: --replace replaces it and keeps it under another name")
    dated = target.with_name(f"{target.name}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    others = (dated.with_name(f"{dated.name}-{number}") for number in count(2))  # for restores within one second
    return dated if not dated.exists() else next(path for path in others if not path.exists())


def _copy(backup: Path, part: Path) -> None:
    """Copy a backup, including the content of its own -wal, and check that the copy is intact."""
    part.unlink(missing_ok=True)
    make_private(part)
    # Without a -wal it need not be locked, so it may be on a read-only disk.
    how = "mode=ro" if beside(backup, WAL).exists() else "immutable=1"
    try:
        source = sqlite3.connect(f"{backup.absolute().as_uri()}?{how}", uri=True)
        with closing(source), closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
            (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
            tables = {name for (name,) in copy.execute("SELECT name FROM sqlite_master")}
            if found == "ok" and "installation" in tables:  # an older format has no such table
                with copy:
                    copy.execute(DISOWN)
    except sqlite3.Error as error:
        raise StoreError(f"{backup} cannot be restored: {error}") from None
    if found != "ok":
        raise StoreError(f"{backup} cannot be restored, because it is damaged: {' '.join(found.split())}")
    if not tables:
        raise StoreError(f"{backup} is empty: it is not a backup of a file of trials")


def _move(part: Path, target: Path, kept: Path | None) -> None:
    """Move the copy into place.

    The old file gets its second name, and its -wal and its marker go with it, before the copy takes its place. The
    copy must never be beside a -wal or marker of another file, and the old file must not lose the content of its
    -wal. Until the copy is in place, the old file has two names, with which no service starts. The copy's own marker
    follows the copy: after a crash between the two steps, the file is treated as restored.
    """
    if kept is not None:
        os.link(target, kept)
        for suffix in (WAL, PROGRESS):
            if beside(target, suffix).exists():
                beside(target, suffix).rename(beside(kept, suffix))
        beside(target, SHM).unlink(missing_ok=True)
    beside(target, PROGRESS).unlink(missing_ok=True)
    sync_folder(target.parent)
    part.replace(target)
    sync_folder(target.parent)
    if beside(part, PROGRESS).exists():
        beside(part, PROGRESS).rename(beside(target, PROGRESS))
        sync_folder(target.parent)
