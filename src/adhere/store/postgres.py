"""Trials in PostgreSQL (12 or later). Any number of processes write at once; backups are made with `pg_dump`.

Each trial has a row that a writer locks. Writers of one trial take turns; writers of different trials need not.

**Few round trips.** A transaction runs in a pipeline: statements are sent at once, and the transaction waits only
when it needs a result. A batch of the service (lock, fetch, append) waits three times: for the lock, for the fetched
rows, and for the end.

**The row lock is released before the disk write.** A commit becomes visible, and the trial unlocked, before its bytes
are on disk (`synchronous_commit = off` for that transaction). A second, tiny transaction follows. It waits for the
disk, and only then does `writing` return. PostgreSQL writes its log in order, so the second transaction makes
everything before it durable: the first transaction, and all that it read. Nothing is acknowledged that a crash could
lose, and one disk write serves all waiting processes. If a disk write takes 2 ms, four processes commit about twice
as many batches on one trial as with plain commits, and about as many on four trials. Two rules follow. A transaction
that wrote nothing also waits, since it may have read rows that are not durable yet. And a view is made durable before
it is shown.

Connect to the server itself, or through a pool by session: settings and prepared statements belong to a session.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import PipelineStatus

from adhere.errors import OutcomeUnknownError, StoreError, StoreUnavailableError
from adhere.store.postgres_connection import (
    Connection,
    Silence,
    connect,
    has_news,
    parse_url,
    roll_back,
    without_passwords,
)
from adhere.store.postgres_transaction import PostgresTransaction, are_same
from adhere.store.schema import FORMAT, check_format, known_format, migrate
from adhere.store.store import DEADLINE, Store

# Writers wait for each other by locks. At another isolation level, which may be the database's default, one would
# fail.
_WRITE = ("BEGIN ISOLATION LEVEL READ COMMITTED", "SET LOCAL synchronous_commit = off")
_VIEW = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",)
_FLUSH = "SELECT pg_logical_emit_message(true, 'adhere', '')::text"  # the message's position in the server's log
# Read with the view, in this order. True if everything in the view is on disk; a standby shows nothing else.
_FLUSHED = """
    SELECT CASE WHEN pg_is_in_recovery() THEN true ELSE pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() END
"""
_INSERTED = "SELECT pg_current_wal_insert_lsn()::text"
_FLUSHED_UP_TO = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_flush_lsn()::text END"
MIGRATING = 0x616468657265  # number of the lock under which one process at a time migrates
_IDLE = 4  # connections kept for views
_SECONDS_TO_CHECK = 1.0
_SECONDS_BETWEEN_TRIES = 0.1
_SECONDS_TO_MIGRATE = 30.0  # for which a process waits while another one migrates


class PostgresStore(Store):
    """A store at an address such as `postgresql://user:password@host/database`.

    If the server does not answer for `deadline` seconds, the connection is closed and `StoreError` raised. While the
    server is known to be silent, further operations fail at once.
    """

    shared = True

    def __init__(self, url: str, *, read_only: bool = False, deadline: float = DEADLINE) -> None:
        self._settings, self.location, self._deadline = parse_url(url), url, deadline
        name = self._settings.get("dbname", "")
        self._where = f"the PostgreSQL database {name!r} at {self._settings.get('host', 'this machine')}"
        self._read_only = read_only
        self._silence = Silence(deadline / 2)
        self._turn = threading.RLock()  # held while the writer is used
        self._writer: Connection | None = None
        self._check_turn = threading.Lock()
        self._checker: Connection | None = None
        self._idle: list[Connection] = []
        self._idle_turn = threading.Lock()
        self._closed = False
        self._is_writing = False
        self._lsn: int = 0  # last known position of the server's log, which only grows
        self._is_set_back = False
        self._identity = ""  # of the tables that were opened for writing
        try:
            if read_only:
                with self.reading() as view:
                    check_format(view, self._where)
            else:
                self._migrate()
        except BaseException:
            self.close()
            raise

    def _migrate(self) -> None:
        """Migrate the tables to this version, one process at a time. A migration may take longer than any
        deadline.
        """
        until = time.monotonic() + _SECONDS_TO_MIGRATE
        with self.writing() as writing:
            while not writing.run("SELECT pg_try_advisory_xact_lock(?)", (MIGRATING,)).fetchone()[0]:
                if time.monotonic() > until:
                    raise StoreUnavailableError(f"{self._where}: another process is migrating its tables")
                time.sleep(_SECONDS_BETWEEN_TRIES)
            assert self._writer is not None
            if known_format(writing, self._where) != FORMAT:
                writing.run("SET LOCAL statement_timeout = 0")
                self._writer.seconds = None
            migrate(writing, self._where)
            self._writer.seconds = self._deadline
            self._identity = writing.identity()
            installed = writing.installation()
            if installed is not None and not installed.opening:  # the tables are new
                writing.take_possession()
            else:
                writing.has_possession = writing.is_in_place()

    def close(self) -> None:
        """Close all connections."""
        with self._turn, self._idle_turn, self._check_turn:
            self._closed = True
            for connection in (self._writer, self._checker, *self._idle):
                if connection is not None:
                    connection.close()

    def check(self) -> None:
        """Raise `StoreError` if the server does not answer within a second. The check has its own connection."""
        with self._check_turn:
            try:
                self._checker = self._good(self._checker, seconds=_SECONDS_TO_CHECK)
                self._checker.execute("SELECT 1 FROM trials LIMIT 1")
                (flushed,) = self._checker.execute(_FLUSHED_UP_TO).fetchone()  # type: ignore[misc]
                if flushed is not None:  # writes of other processes count, too
                    self._lsn = max(self._lsn, _lsn_of(flushed))
            except psycopg.Error as error:
                self._silence.checked(error)
                raise self._failed(error) from None
            self._silence.checked(None)

    @contextmanager
    def writing(self, *, waits: bool = True) -> Iterator[PostgresTransaction]:
        """Open a transaction. When the block ends without an error, everything is on disk.

        If the block or the commit fails, nothing is written. Only an `OutcomeUnknownError` means that the commit may
        have succeeded. This store always waits for locks, even if `waits` is false.
        """
        with self._turn:
            if self._read_only:
                raise StoreError(f"{self._where} was opened read-only")
            if self._is_writing:
                raise StoreError(f"{self._where}: one transaction cannot be begun within another")
            before, self._writer = self._writer, self._ready(self._writer, writes=True)
            self._is_writing = True
            try:
                with self._transaction(self._writer, _WRITE, [_FLUSH]) as writing:
                    if self._writer is not before:
                        self._check_identity(self._writer, writing)
                    yield writing
            finally:
                self._is_writing = False
                if self._is_set_back:
                    self._disown(self._writer)
            if writing.has_possession is not None:
                self.was_restored = not writing.has_possession

    def _disown(self, writer: Connection) -> None:
        """Mark a database as owned by nobody, like a restored one, because it was reset to an earlier state while in
        use.
        """
        with self._transaction(writer, _WRITE, [_FLUSH]) as writing:
            writing.disown()
        self._is_set_back, self.was_restored = False, True

    def _check_identity(self, writer: Connection, writing: PostgresTransaction) -> None:
        """Refuse tables that replaced the opened ones while the connection was lost."""
        if self._lsn and _lsn_of(writing.run(_INSERTED).fetchone()[0]) < self._lsn:
            self._is_set_back = True
            raise StoreError(f"{self._where} is older than what was written to it; try again")
        if self._identity and not are_same(self._identity, writing.identity()):
            writer.close()  # so that the next transaction checks again
            raise StoreError(
                f"{self._where} was replaced or restored while it was in use, so nothing more is written: stop the "
                "service and start it again"
            )

    @contextmanager
    def reading(self) -> Iterator[PostgresTransaction]:
        """Open a consistent view while others may write."""
        with self._borrowed() as connection, self._transaction(connection, _VIEW, []) as view:
            if not view.run(_FLUSHED).fetchone()[0]:
                with self._borrowed() as another:
                    another.execute(_FLUSH)
            yield view

    @contextmanager
    def _transaction(
        self, connection: Connection, before: Sequence[str], after: Sequence[str]
    ) -> Iterator[PostgresTransaction]:
        end = None
        try:
            with connection.pipeline():
                for sql in before:
                    connection.execute(sql)
                try:
                    yield PostgresTransaction(connection, self.secret_file)
                except BaseException as error:
                    if isinstance(error, psycopg.Error):
                        self._silence.noticed(error)
                    if self._silence.lasts():  # also on this connection, which the pipeline would now wait for
                        connection.close()
                    raise
                end = connection.cursor()
                end.execute("COMMIT")
                flushed = [connection.execute(sql) for sql in after]
            # PostgreSQL reports no error when a failed transaction ends; the status is ROLLBACK.
            if end.statusmessage != "COMMIT":
                raise StoreError(f"{self._where}: nothing was saved, because a statement failed")
            for cursor in flushed:
                self._lsn = _lsn_of(cursor.fetchone()[0])  # type: ignore[index]
        except BaseException as error:
            # The commit was sent. Unless the server reports that it failed, it may have succeeded. Even then it may
            # not be on disk if a later step failed.
            unknown = after and end is not None and (connection.broken or connection.closed or _committed(end))
            roll_back(connection)
            if isinstance(error, psycopg.Error):
                self._silence.noticed(error)
                raise self._failed(error, OutcomeUnknownError if unknown else StoreUnavailableError) from None
            raise

    @contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        with self._idle_turn:
            connection = self._idle.pop() if self._idle else None
        connection = self._ready(connection)
        try:
            yield connection
        finally:
            with self._idle_turn:
                if self._closed or len(self._idle) >= _IDLE:
                    connection.close()
                else:
                    self._idle.append(connection)

    def _ready(self, connection: Connection | None, *, writes: bool = False) -> Connection:
        """Return a usable connection. Raise `StoreUnavailableError` if the server was silent a moment ago."""
        if self._silence.lasts():
            raise StoreUnavailableError(f"{self._where} does not answer")
        try:
            return self._good(connection, seconds=self._deadline, writes=writes)
        except psycopg.Error as error:
            self._silence.noticed(error)
            raise self._failed(error) from None

    def _good(self, connection: Connection | None, *, seconds: float, writes: bool = False) -> Connection:
        """Return the connection, or a new one if it broke while idle or could not be rolled back for lack of
        memory.
        """
        if connection is not None:
            is_good = not connection.closed and not has_news(connection)
            if is_good and connection.pgconn.pipeline_status == PipelineStatus.OFF:
                return connection
            connection.close()
        if self._closed:
            raise StoreError(f"{self._where} was closed")
        return connect(self._settings, seconds, writes=writes)

    def _failed(self, error: psycopg.Error, kind: type[StoreError] = StoreUnavailableError) -> StoreError:
        """Return the error with a short message, which omits the password and the contents of rows, because rows may
        name people.

        Every error of the server counts as temporary, because a missing role, database or right can be created later.
        """
        text = error.diag.message_primary or " ".join(str(error).split())
        return kind(f"{self._where}: {without_passwords(text)}")


def _committed(end: psycopg.Cursor[tuple[Any, ...]]) -> bool:
    return end.statusmessage == "COMMIT"


def _lsn_of(text: str) -> int:
    """Return a position in the server's log as a number.

    >>> _lsn_of("1/16B3748") - _lsn_of("0/16B3748") == 2**32
    True
    """
    high, _, low = text.partition("/")
    return int(high, 16) << 32 | int(low, 16)
