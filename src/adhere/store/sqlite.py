"""Trials in one SQLite file, or in memory. One process writes; others may read at any time.

Commits are durable: a write-ahead log with `synchronous=FULL` returns from a commit only once its bytes are on disk.
In memory all threads share one connection, so a writer waits for the views of other threads to end.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from adhere.errors import OutcomeUnknownError, StoreBusyError, StoreError, StoreUnavailableError
from adhere.files import replacing
from adhere.store.database_file import check_path, delete_file, followed, has_wal, lock_writer, make_file
from adhere.store.file_watch import FileWatch
from adhere.store.possession import DISOWN, Possession
from adhere.store.schema import FORMAT, check_format, check_heads, known_format, migrate
from adhere.store.sqlite_transaction import (
    SqliteTransaction,
    add_statistics,
    in_words,
    is_busy,
    is_damage,
    leaves_doubt,
    let_busy_fail,
    set_up_writer,
)
from adhere.store.store import Store

_PATIENCE = 30.0  # seconds to wait for another program's lock
_BETWEEN_TRIES = 0.02  # seconds
_LONG = 0.5  # seconds of waiting after which the store counts as locked


class SqliteStore(Store):
    """A file of trials, or a store in memory that disappears when closed (`None`).

    If opened for writing, it takes a lock beside the file. The system releases it whenever and however the process
    ends. A store in memory that `spills` moves to a nameless file when it outgrows the cache.

    A file that lacks acknowledged records is refused with `RecordsLostError`, unless `accepts_loss` is true. If the
    last writer left the file in this place, the first transaction takes possession of it, unless `accepts_loss` or
    `is_copy` is true. `is_copy` marks the file as a copy in any case.
    """

    shared = False

    def __init__(
        self,
        path: Path | None,
        *,
        read_only: bool = False,
        spills: bool = False,
        accepts_loss: bool = False,
        is_copy: bool = False,
    ) -> None:
        self._path, self._where = path and followed(path), str(path or "the store in memory")
        self.location = self._path and self._path.absolute()
        self._in_memory = "" if spills else ":memory:"
        # The writer, and in memory every reader too, use one connection.
        self._turn = threading.RLock()
        self._lock, self._watch, self._made = None, None, False
        self._possession: Possession | None = None
        self._owes_move = False  # whether the possession is not yet in the database file itself
        self._is_writing = False  # whether this process has an open transaction
        self._sqlite_waits = True  # whether SQLite itself waits for locks
        self._waits_since: float | None = None  # while another program has locked the file
        with ExitStack() as undo:
            if self._path is not None:
                check_path(self._path, must_exist=read_only)
                if not read_only:
                    self._lock = lock_writer(self._path)
                    undo.callback(self._unlock)
                    self._possession = Possession(self._path, self._where)
                    if not self._path.exists():
                        self._possession.check_absence(self._path)
                    self._made = make_file(self._path)
                self._watch = FileWatch(self._path)
            try:
                if self._possession is not None:
                    undo.callback(self._possession.close)
                    self._check_left_over(self._possession, is_copy=is_copy)
                    if not accepts_loss:
                        self._possession.refuse_loss()
                self._takes_possession = not (accepts_loss or self.was_restored)
                self._connection = self._connect(read_only)
                if self._watch is not None:
                    undo.callback(self._watch.close)
                undo.callback(self._connection.close)
                self._prepare(read_only)
            except sqlite3.Error as error:
                raise self._unusable(error) from None
            self._check_file()
            undo.pop_all()

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc"
        name = self._in_memory if self._path is None else f"{self._path.absolute().as_uri()}?mode={mode}"
        try:
            connection = sqlite3.connect(
                name, uri=True, isolation_level=None, check_same_thread=False, timeout=_PATIENCE
            )
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        if read_only:  # damaged text must not stop `verify`, which reports it
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        return connection

    def _check_left_over(self, possession: Possession, *, is_copy: bool) -> None:
        """Compare the file with its marker, and refuse a write-ahead log that does not match the file.

        A killed process or a careless restore may have left such a log. SQLite accepts any log as the file's own, so
        all records are counted. The connection is read-only, because closing a writable one would move the log into
        the file.
        """
        assert self._path is not None
        with closing(self._connect(read_only=True)) as connection:
            view = SqliteTransaction(connection)
            if known_format(view, self._where):
                check_heads(view, self._where, counting=has_wal(self._path))
            possession.examine(view)
        if is_copy:
            possession.finding = possession.finding._replace(was_restored=True)
        self.was_restored, self.n_lost = possession.finding

    def _prepare(self, read_only: bool) -> None:
        """Migrate the tables to this version. An unknown file is refused before anything is changed."""
        run = self._connection.execute
        names = [row[0] for row in run("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and "adhere_schema" not in names:
            raise StoreError(f"{self._where} is a database of something else (it has a table {names[0]})")
        if read_only:
            check_format(SqliteTransaction(self._connection), self._where)
            return
        is_current = known_format(SqliteTransaction(self._connection), self._where) == FORMAT
        set_up_writer(self._connection, self._path)
        transaction = self._begun()
        with self._transaction(self._connection, "BEGIN IMMEDIATE"):
            migrate(transaction, self._where)
            add_statistics(self._connection)
            if self._takes_possession and not is_current:
                transaction.take_possession()
            self._before_commit(transaction)
        self._after_commit(transaction)
        run("ANALYZE sqlite_schema")  # makes SQLite use them from now on
        if self._watch is not None:
            self._move_log()
            self._watch.watch_writer()
        self._sqlite_waits = not let_busy_fail(self._connection)

    def _move_log(self) -> None:
        """Move the log into the database file. Without its log, the file is then an older state, not a new store.

        If that fails, nothing is lost: the log contains everything.
        """
        with suppress(sqlite3.Error):
            _, n_frames, n_moved = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            self._owes_move = n_moved < n_frames  # an earlier reader may prevent SQLite from moving some frames

    def _unusable(self, error: sqlite3.Error) -> StoreError:
        return in_words(error, self._where, " cannot be opened as a file of trials")

    @contextmanager
    def writing(self, *, waits: bool = True) -> Iterator[SqliteTransaction]:
        """Open a transaction. When the block ends without an error, everything is on disk.

        If the block or the commit fails, nothing is written. Only an `OutcomeUnknownError` means that the commit may
        have succeeded. If `waits` is false and another thread or program is writing, `StoreBusyError` is raised
        before the block begins.
        """
        watch = self._watch
        with self._only_transaction(waits=waits):
            transaction = self._begun()
            if watch is None:
                with self._transaction(self._connection, "BEGIN IMMEDIATE", waits=waits):
                    yield transaction
                return
            watch.before_transaction()
            try:
                with self._transaction(self._connection, "BEGIN IMMEDIATE", waits=waits):
                    if self._takes_possession:
                        transaction.take_possession()
                    yield transaction
                    watch.before_commit()
                    self._before_commit(transaction)
            finally:
                watch.after_transaction()
            if watch.fault:  # data committed to a lost file must not be acknowledged
                raise OutcomeUnknownError(watch.fault)
            if transaction.checkpoint_after or self._owes_move:
                self._move_log()
                watch.remember()
            self._after_commit(transaction)

    def unending(self) -> SqliteTransaction:
        """Return a transaction of a store in memory that never ends: its writes take effect at once."""
        assert self._path is None
        return self._begun()

    @contextmanager
    def _only_transaction(self, *, waits: bool) -> Iterator[None]:
        """Exclude other threads. Roll back a transaction that an earlier lack of memory left open."""
        if not self._turn.acquire(blocking=waits):
            raise StoreBusyError(f"{self._where} is in use by another thread")
        try:
            if self._is_writing:  # SQLite refuses a nested transaction; the outer one must survive
                yield
                return
            with suppress(sqlite3.ProgrammingError):  # it was closed, as the next statement reports
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            self._is_writing = True
            try:
                yield
            finally:
                self._is_writing = False
        finally:
            self._turn.release()

    def _begun(self) -> SqliteTransaction:
        claim = self._possession.claim if self._possession else ""
        return SqliteTransaction(self._connection, self.secret_file, claim=claim)

    def _before_commit(self, transaction: SqliteTransaction) -> None:
        if self._possession is not None:
            self._possession.before_commit(transaction)

    def _after_commit(self, transaction: SqliteTransaction) -> None:
        if self._possession is not None:
            self._possession.after_commit(transaction)
            self.was_restored = self._possession.finding.was_restored

    @contextmanager
    def reading(self) -> Iterator[SqliteTransaction]:
        """Open a consistent view while others may write."""
        with self._view() as connection:
            if connection is self._connection:  # in memory, the lock excludes others
                yield SqliteTransaction(connection, self.secret_file)
            else:
                with self._transaction(connection, "BEGIN"):
                    yield SqliteTransaction(connection, self.secret_file)

    @contextmanager
    def _view(self) -> Iterator[sqlite3.Connection]:
        if self._path is None:
            with self._turn:
                yield self._connection
        else:
            self._check_file()  # otherwise the error would only report that it cannot be opened
            with closing(self._connect(read_only=True)) as connection:
                self._check_file()
                yield connection

    def _check_file(self) -> None:
        if self._watch is not None:
            self._watch.check()

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection, begin: str, *, waits: bool = True) -> Iterator[None]:
        try:
            # Outside the inner block: a nested transaction fails here, and must not undo the outer one.
            try:
                connection.execute(begin)
            except sqlite3.OperationalError as error:
                if self._sqlite_waits or not is_busy(error):
                    raise
                if not waits:
                    raise StoreBusyError(f"{self._where}: {error}") from None
                self._begin_later(connection, begin)
            committing = False
            try:
                yield
                committing = True
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if committing and leaves_doubt(error):
                    raise OutcomeUnknownError(f"{self._where}: {error}") from error
                raise
        except sqlite3.Error as error:
            if self._path is None and is_damage(error):
                raise  # damage in another file that is being read, whose own view names it
            raise in_words(error, self._where, "") from error

    def _begin_later(self, connection: sqlite3.Connection, begin: str) -> None:
        """Begin a transaction once the other program's lock is released. Fail if that takes too long."""
        self._waits_since = time.monotonic()
        try:
            while True:
                time.sleep(_BETWEEN_TRIES)
                try:
                    connection.execute(begin)
                    return
                except sqlite3.OperationalError as error:
                    if not is_busy(error) or time.monotonic() - self._waits_since > _PATIENCE:
                        raise
        finally:
            self._waits_since = None

    def check(self) -> None:
        """Raise `StoreError` if the file cannot be read, or if another program prevents writing."""
        super().check()
        since = self._waits_since
        if since is not None and time.monotonic() - since > _LONG:
            raise StoreUnavailableError(f"{self._where} is locked by another program")

    def backup(self, to: Path) -> None:
        """Copy the store, as of one moment, into a new file. Others may continue to write."""
        if to.exists():
            raise StoreError(f"{to} already exists: give a new name")
        try:
            with (
                replacing(to, private=True) as part,
                self._view() as connection,
                closing(sqlite3.connect(part)) as copy,
            ):
                connection.backup(copy)
                with copy:
                    copy.execute(DISOWN)
                copy.execute("PRAGMA journal_mode = DELETE")  # otherwise reading it would create files beside it
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{to} cannot be written: {error}") from None

    def close(self) -> None:
        """Close the file and let another process write to it."""
        with self._turn:
            self._give_up()
            self._close()
            self._unlock()

    def discard(self) -> None:
        """Close the store. Delete its file if this store created it and it has neither trials nor tokens."""
        with self._turn:
            made = self._path if self._made and self._is_empty() else None
            self._give_up()
            self._close()
            if made is not None:
                delete_file(made)
            self._unlock()

    def _is_empty(self) -> bool:
        found = "SELECT EXISTS (SELECT 1 FROM trials UNION ALL SELECT 1 FROM tokens)"
        try:
            return not self._connection.execute(found).fetchone()[0]
        except sqlite3.Error:
            return False

    def _give_up(self) -> None:
        """Record in the database, then in its marker, that it was closed. If that fails, both still say that it is
        open.
        """
        possession = self._possession
        if possession is None:
            return
        if possession.is_taken:
            with suppress(StoreError):
                with self.writing() as transaction:
                    transaction.run("UPDATE installation SET is_open = 0 WHERE id = 1")
                possession.has_closed()
        possession.close()

    def _close(self) -> None:
        """Close the file without letting SQLite move overwritten parts of the log into it, as it normally does on
        closing.

        A file that was deleted or replaced, and its log, are still open, and are merged.
        """
        with ExitStack() as others:
            if self._watch is not None:
                others.callback(self._watch.close)
                if self._watch.overwritten:
                    with suppress(sqlite3.Error, StoreError):
                        reader = others.enter_context(closing(self._connect(read_only=True)))
                        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
            self._connection.close()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
