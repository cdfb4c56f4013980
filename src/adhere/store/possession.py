"""Possession of a SQLite file: detect on opening that records are missing, or that another file took its place.

The database contains a random name for itself (`store_id`), a name for the writer that last took possession
(`opening`), and whether that writer is still active (`is_open`). A marker file beside the database contains the same
values and the number of acknowledged records. The order of writing makes each crash harmless:

1. Taking possession: the marker on disk gets the new opening and its count beside the old pair. Then the transaction
   with the new opening is committed. Then the marker drops the old pair. The database always names one of the two
   openings, and the marker has the count for each.
2. Each commit is on disk before the marker has its count: the marker never counts more records than the database has.
3. Closing: the database gets `is_open = 0` before the marker does, and before the write-ahead log is deleted.

The marker's count is written after each commit and before the response, so it is in the system's memory when the
process is killed. It reaches the disk about once a second: after a power cut it may be older than the database, never
newer.
"""

from __future__ import annotations

import os
import secrets
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from adhere.errors import OutcomeUnknownError, RecordsLostError
from adhere.files import may_pass, replacing
from adhere.store.database_file import PROGRESS, beside, file_error, left_over
from adhere.store.records import Installation
from adhere.store.sqlite_transaction import SqliteTransaction
from adhere.store.transactions import ReadTransaction

_SECONDS_BETWEEN_SYNCS = 1.0
_MAGIC, _NOTHING, _UNKNOWN = "adhere-progress-1", "-", "?"
_OPEN = {"open": True, "closed": False}
_SIZE = 192  # smaller than a disk sector, so that the disk writes all of it or nothing
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Mark(NamedTuple):
    """The contents of the marker file beside a database.

    `opening` is the random name of the writer that last took possession (empty: no writer did), and `n_records` is
    the number of acknowledged records (None: unknown). The `next` pair is written before the transaction in which a
    writer takes possession. It replaces the other pair once the database itself names `next_opening`.
    """

    store_id: str
    is_open: bool
    opening: str
    n_records: int | None
    next_opening: str = ""
    next_n_records: int = 0

    def under(self, opening: str) -> Mark:
        """Return the mark that is valid if the database names this writer (`opening`)."""
        if opening and opening == self.next_opening:
            return Mark(self.store_id, self.is_open, opening, self.next_n_records)
        return self._replace(next_opening="", next_n_records=0)


class ProgressFile:
    """The marker's file. The first write replaces the file; later writes overwrite its contents."""

    def __init__(self, path: Path) -> None:
        self._path, self._name = path, str(path)
        self._file: int | None = None
        self._identity = (-1, -1)
        self._synced_at = 0.0

    def read(self) -> Mark | None:
        """Return the last contents written, or None if there is no marker or it is damaged.

        Raises `OSError` if it could not be read for a reason that may pass.
        """
        try:
            with self._path.open("rb") as file:
                return _decode(file.read(_SIZE + 1))
        except OSError as error:
            if may_pass(error):
                raise
            return None

    def write(self, mark: Mark, *, sync: bool = False) -> None:
        """Write the marker. It is flushed to disk if `sync` is true or the last flush was a while ago.

        A marker that was deleted or replaced meanwhile is created again.
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
        """Replace any existing file by a new one, with its contents and its name on disk."""
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
    """Flush the names in a folder to disk: files that were created, renamed or deleted."""
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


DISOWN = "UPDATE installation SET opening = '', is_open = 0 WHERE id = 1"  # for a copy, which no writer possesses


class Finding(NamedTuple):
    """The result of comparing a database with its marker. `n_lost` is 0 if nothing is lost and None if unknown."""

    was_restored: bool = False
    n_lost: int | None = 0


def compare(installed: Installation | None, n_records: int, mark: Mark | None) -> Finding:
    """Compare a database with its marker, if a readable one exists.

    >>> mark = Mark("a", True, "first", 5)
    >>> compare(Installation("a", "first", True), 3, mark)
    Finding(was_restored=True, n_lost=2)
    """
    if installed is None:  # a new file, or one of an older format
        if mark is None:
            return Finding()
        if mark.n_records != 0 and not n_records:
            return Finding(was_restored=True, n_lost=mark.n_records)
        return Finding(was_restored=bool(mark.opening))
    if mark is None or mark.store_id != installed.store_id:
        return Finding(was_restored=True, n_lost=None if installed.is_open else 0)
    current = mark.under(installed.opening)
    if current.n_records is None:
        return Finding(was_restored=True, n_lost=None)
    if current.n_records > n_records:
        return Finding(was_restored=True, n_lost=current.n_records - n_records)
    return Finding(was_restored=not installed.opening or installed.opening != current.opening)


class Possession:
    """The claim of one writer to a file. One thread uses it at a time, with the writer's lock."""

    def __init__(self, path: Path, where: str) -> None:
        self._where = where
        self._name = beside(path, PROGRESS)
        self._file = ProgressFile(self._name)
        try:
            self._left = self._file.read()  # written by the last writer
        except OSError as error:
            raise file_error(f"{self._name} cannot be read", error) from None
        self._opening = secrets.token_hex(16)  # the same for every attempt: a failed commit may be found later
        self._mark: Mark | None = None  # of this writer, once it has possession
        self._n_records: int | None = None  # None: unknown, since a commit failed
        self._n_due = 0
        self._is_behind = False  # whether the marker could not be written
        self.finding = Finding()

    @property
    def is_taken(self) -> bool:
        """Return whether this writer has possession."""
        return self._mark is not None

    @property
    def claim(self) -> str:
        """The name with which this writer takes possession, or an empty text once it has possession."""
        return "" if self.is_taken else self._opening

    def check_absence(self, path: Path) -> None:
        """Refuse to create a new file beside the marker of another one."""
        if self._left is not None and self._left.n_records != 0:
            raise left_over(path, PROGRESS)

    def examine(self, view: ReadTransaction) -> None:
        """Compare the database with the marker, and store the result in `finding`."""
        tables = view.schema()
        installed = view.installation() if "installation" in tables else None
        self._n_records = view.count_records() if "trials" in tables else 0
        self.finding = compare(installed, self._n_records, self._left)
        if self._left is not None and installed is not None:
            self._left = self._left.under(installed.opening)

    def refuse_loss(self) -> None:
        """Raise `RecordsLostError` if acknowledged records are missing."""
        if self.finding.n_lost != 0:
            raise RecordsLostError(self._where, self.finding.n_lost)

    def before_commit(self, transaction: SqliteTransaction) -> None:
        """Count the records, and announce the writer's name if the transaction takes possession."""
        known, self._n_records = self._n_records, None  # until the commit succeeds
        self._n_due = transaction.count_records() if known is None else known + transaction.n_appended
        if transaction.opening and (installed := transaction.installation()) is not None:
            self._announce(installed.store_id, transaction.opening)

    def _announce(self, store_id: str, opening: str) -> None:
        """Write the name of the new writer to the marker, beside the old name.

        If the commit fails, the next start must find what this one found: the same loss, or a restored file.
        """
        left = self._left
        if left is not None and left.store_id == store_id:
            old = left
        elif self.finding.n_lost != 0:
            old = Mark(store_id, True, "", None)
        else:
            old = Mark(store_id, False, "", 0)
        self._left = old._replace(next_opening=opening, next_n_records=self._n_due)
        try:
            self._file.write(self._left, sync=True)
        except OSError as error:
            raise file_error(f"{self._name} cannot be written", error) from None

    def after_commit(self, transaction: SqliteTransaction) -> None:
        """Write the count into the marker before anything is acknowledged."""
        self._n_records = self._n_due
        if transaction.opening and self._left is not None:
            self._mark = Mark(self._left.store_id, True, transaction.opening, self._n_due)
            self.finding = self.finding._replace(was_restored=False)
        if self._mark is not None and (transaction.n_appended or transaction.opening or self._is_behind):
            self._mark = self._mark._replace(n_records=self._n_due)
            self._write(sync=bool(transaction.opening))

    def has_closed(self) -> None:
        """Record in the marker that the database was closed. Later commits do not change this entry."""
        if self._mark is not None:
            self._mark = self._mark._replace(is_open=False)
            self._write(sync=True)

    def close(self) -> None:
        """Close the marker and give up possession."""
        self._mark = None
        self._file.close()

    def _write(self, *, sync: bool) -> None:
        assert self._mark is not None
        self._is_behind = True
        try:
            self._file.write(self._mark, sync=sync)
        except OSError as error:
            raise OutcomeUnknownError(f"{self._name} cannot be written: {error.strerror}") from None
        self._is_behind = False
