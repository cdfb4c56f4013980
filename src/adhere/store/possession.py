"""Possession of a SQLite file: notice at its opening that records are gone, or that it is not the file left here.

The database contains a random name for itself (`store_id`), one for the writer that took possession of it last
(`opening`), and whether that writer still has it (`is_open`). The marker beside it contains the same and the number
of records that were acknowledged. Their order of writing makes each crash harmless:

1. Taking possession: the marker gets the new opening and its count beside the old ones, on the disk; then the
   transaction with the new opening is committed; then the marker drops the old ones. The database names one of the
   two openings at any time, and the marker has the count for each.
2. Each commit is on the disk before the marker has its count: the marker never says more than the database has.
3. Closing: the database gets `is_open = 0` before the marker says so, and before the write-ahead log is deleted.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import NamedTuple

from adhere.errors import OutcomeUnknownError, RecordsLostError, StoreError
from adhere.store.database_file import PROGRESS, beside
from adhere.store.file_errors import file_error
from adhere.store.progress_file import Mark, ProgressFile
from adhere.store.records import Installation
from adhere.store.sqlite_transaction import SqliteTransaction
from adhere.store.transactions import ReadTransaction

DISOWN = "UPDATE installation SET opening = '', is_open = 0 WHERE id = 1"  # in a copy, which no writer has


class Finding(NamedTuple):
    """The result of comparing a database with its marker. `n_lost` is 0 if nothing is lost, None if unknown."""

    was_restored: bool = False
    n_lost: int | None = 0


def compare(installed: Installation | None, n_records: int, mark: Mark | None) -> Finding:
    """Compare a database with its marker, where there is one that can be read.

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
    """The claim of one writer to a file. Used by one thread at a time, with the writer's lock."""

    def __init__(self, path: Path, where: str) -> None:
        self._where = where
        self._name = beside(path, PROGRESS)
        self._file = ProgressFile(self._name)
        try:
            self._left = self._file.read()  # by the last writer
        except OSError as error:
            raise file_error(f"{self._name} cannot be read", error) from None
        self._opening = secrets.token_hex(16)  # the same for each try: one whose commit failed may be found later
        self._mark: Mark | None = None  # of this writer, once it has possession
        self._n_records: int | None = None  # None: unknown, since a commit failed
        self._n_due = 0
        self._is_behind = False  # whether the marker could not be written
        self.finding = Finding()

    @property
    def is_taken(self) -> bool:
        """Whether this writer has possession."""
        return self._mark is not None

    @property
    def claim(self) -> str:
        """The opening by which this writer takes possession, or an empty text once it has."""
        return "" if self.is_taken else self._opening

    def check_absence(self, path: Path) -> None:
        """Refuse to make a new file where the marker of another one is."""
        if self._left is not None and self._left.n_records != 0:
            raise StoreError(
                f"{path} does not exist, but {self._name.name} does: the file was deleted or moved. Put it back, or "
                "restore a backup (adhere trial restore); for a new one, delete what is left of the old one first."
            )

    def examine(self, view: ReadTransaction) -> None:
        """Compare the database with the marker, into `finding`."""
        tables = view.schema()
        installed = view.installation() if "installation" in tables else None
        self._n_records = view.count_records() if "trials" in tables else 0
        self.finding = compare(installed, self._n_records, self._left)
        if self._left is not None and installed is not None:
            self._left = self._left.under(installed.opening)

    def refuse_loss(self) -> None:
        """Raise a `RecordsLostError` if acknowledged records are gone."""
        if self.finding.n_lost != 0:
            raise RecordsLostError(self._where, self.finding.n_lost)

    def before_commit(self, transaction: SqliteTransaction) -> None:
        """Count the records, and announce the opening of a transaction that takes possession."""
        known, self._n_records = self._n_records, None  # until the commit succeeds
        self._n_due = transaction.count_records() if known is None else known + transaction.n_appended
        if transaction.opening and (installed := transaction.installation()) is not None:
            self._announce(installed.store_id, transaction.opening)

    def _announce(self, store_id: str, opening: str) -> None:
        """Write the new opening beside the old one.

        Should the commit fail, the next start must find what this one found: the same loss, or a restored file.
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
        """Write the count into the marker, before anything is acknowledged."""
        self._n_records = self._n_due
        if transaction.opening and self._left is not None:
            self._mark = Mark(self._left.store_id, True, transaction.opening, self._n_due)
            self.finding = self.finding._replace(was_restored=False)
        if self._mark is not None and (transaction.n_appended or transaction.opening or self._is_behind):
            self._mark = self._mark._replace(n_records=self._n_due)
            self._write(sync=bool(transaction.opening))

    def has_closed(self) -> None:
        """Note in the marker that the database was closed; later commits do not change it."""
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
