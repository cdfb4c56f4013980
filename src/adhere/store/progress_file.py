"""A marker beside a SQLite database (`adhere.db-progress`): which database it is and how many records it must have.

The count is written after each commit and before the answer, so it is in the system's memory when the process is
killed. It reaches the disk about once a second: after a power cut it may be older than the database, never newer.
"""

from __future__ import annotations

import os
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from adhere.files import may_pass, replacing

_SECONDS_BETWEEN_SYNCS = 1.0
_MAGIC, _NOTHING, _UNKNOWN = "adhere-progress-1", "-", "?"
_OPEN = {"open": True, "closed": False}
_SIZE = 192  # less than a sector of any disk, so that the disk writes all of it or nothing
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Mark(NamedTuple):
    """The contents of the marker.

    `opening` names the writer that took possession last (empty: none has), and `n_records` is the number of records
    that were acknowledged (None: unknown). The `next` pair replaces them once the database itself names
    `next_opening`: it is written before the transaction in which a writer takes possession.
    """

    store_id: str
    is_open: bool
    opening: str
    n_records: int | None
    next_opening: str = ""
    next_n_records: int = 0

    def under(self, opening: str) -> Mark:
        """Return the mark that counts for a database with this opening."""
        if opening and opening == self.next_opening:
            return Mark(self.store_id, self.is_open, opening, self.next_n_records)
        return self._replace(next_opening="", next_n_records=0)


class ProgressFile:
    """The marker's file. The first write replaces the file, later ones overwrite its contents."""

    def __init__(self, path: Path) -> None:
        self._path, self._name = path, str(path)
        self._file: int | None = None
        self._identity = (-1, -1)
        self._synced_at = 0.0

    def read(self) -> Mark | None:
        """Return what was written last, or None if there is no marker or it is damaged.

        Raises an `OSError` if it could not be read for a reason that may pass.
        """
        try:
            with self._path.open("rb") as file:
                return _decode(file.read(_SIZE + 1))
        except OSError as error:
            if may_pass(error):
                raise
            return None

    def write(self, mark: Mark, *, sync: bool = False) -> None:
        """Write the marker, to the disk if `sync` is set or the last time was a while ago.

        A marker that was deleted or replaced meanwhile is made again.
        """
        data = _encode(mark)
        if self._file is None or not self._is_in_place():
            self._make(data)
            return
        os.pwrite(self._file, data, 0)
        now = time.monotonic()
        if sync or now - self._synced_at >= _SECONDS_BETWEEN_SYNCS:
            _sync(self._file)
            self._synced_at = now

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _is_in_place(self) -> bool:
        try:
            found = os.stat(self._name)  # noqa: PTH116  (twice as fast; this is asked at every commit)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def _make(self, data: bytes) -> None:
        """Put a new file in place of any other, with its contents and its name on the disk."""
        self.close()
        with replacing(self._path, private=True) as part:
            file = os.open(part, os.O_RDWR)
            try:
                os.pwrite(file, data, 0)
                os.fsync(file)
                found = os.fstat(file)
            except BaseException:
                os.close(file)
                raise
            self._file, self._identity = file, (found.st_dev, found.st_ino)
        sync_folder(self._path.parent)
        self._synced_at = time.monotonic()


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk: files that were made, renamed or deleted."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _encode(mark: Mark) -> bytes:
    n_records = _UNKNOWN if mark.n_records is None else mark.n_records
    text = (
        f"{_MAGIC} {mark.store_id} {'open' if mark.is_open else 'closed'} {mark.opening or _NOTHING} {n_records} "
        f"{mark.next_opening or _NOTHING} {mark.next_n_records}"
    )
    body = text.ljust(_SIZE - 10).encode()
    return b"%s %08x\n" % (body, zlib.crc32(body))


def _decode(data: bytes) -> Mark | None:
    body = data[: _SIZE - 10]
    if len(data) != _SIZE or data[_SIZE - 10 :] != b" %08x\n" % zlib.crc32(body):
        return None
    magic, store_id, state, opening, n_records, next_opening, next_n_records = body.decode().split()
    if magic != _MAGIC:
        return None
    return Mark(
        store_id,
        _OPEN[state],
        "" if opening == _NOTHING else opening,
        None if n_records == _UNKNOWN else int(n_records),
        "" if next_opening == _NOTHING else next_opening,
        int(next_n_records),
    )
