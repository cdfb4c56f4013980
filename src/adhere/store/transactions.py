"""Transactions: reading and writing a store, in SQL that all databases share.

Each database has a subclass for its differences: the names of types, how to lock, and how to send statements and
rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from adhere.errors import InputError, StoreError
from adhere.store.records import Fetched, Head, Installation, Record, Subject, Token, UpdateBlock
from adhere.store.secret_file import SecretFile

# The columns of tables that are written in bulk, with their types in `WriteTransaction.types`.
_RECORDS = {"trial": "number", "position": "number", "body": "bytes", "hash": "bytes"}
_RECORDS |= {"request_id": "text", "recommendation_index": "number", "subject": "text"}
_SUBJECTS = {"trial": "number", "pseudonym": "text", "key": "text", "salt": "bytes", "latest": "number"}
_FOLDED = {"folded": "text"}  # for look-ups only: never read back, nor written anywhere else
_STATES = {"trial": "number", "position": "number", "state": "bytes"}
_SUBJECT = ", ".join(_SUBJECTS).removeprefix("trial, ")
_RECORD = ", ".join(_RECORDS).removeprefix("trial, ")
_TOKEN = "id, digest, role, site, trial, label, made_at, revoked_at, expires_at, last_used_at"
_HISTORIES = "SELECT recommendation_index, body FROM records WHERE trial = ? AND recommendation_index"
Schema = Mapping[str, frozenset[str]]  # the columns of each table and of its primary key; an index has none
PRIMARY_KEY = " primary key"  # follows the name of its table


class ReadTransaction(ABC):
    """A consistent view of the store at one moment."""

    catalogue: ClassVar[str]  # the statement for the rows of `as_schema`
    secret_file: SecretFile | None = None  # contains the secrets, if they are not in the store
    torn_by: ClassVar[str]  # how a log may have lost its end, and what to do
    # SQL for "is one of these", with one mark for all values, so that the statement is the same for any number.
    in_clause: ClassVar[str]

    @abstractmethod
    def run(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement with its values. Return a cursor to fetch from later."""

    @abstractmethod
    def in_values(self, values: Sequence[Any]) -> Any:
        """Return the value for the mark in `in_clause`."""

    def schema(self) -> Schema:
        """Return all tables and primary keys with their columns, and all indexes."""
        return as_schema(self.run(self.catalogue).fetchall())

    def installation(self) -> Installation | None:
        """Return the identity of this store and who possesses it, or None if the row is missing."""
        row = self.run("SELECT store_id, opening, is_open FROM installation WHERE id = 1").fetchone()
        return Installation(row[0], row[1], bool(row[2])) if row else None

    def count_records(self) -> int:
        """Return the total number of records of all trials, computed from the heads of their logs."""
        return int(self.run("SELECT coalesce(sum(position), 0) FROM trials").fetchone()[0])

    def trials(self) -> Mapping[str, int]:
        """Return the number of each trial by name, in order of creation."""
        return dict(self.run("SELECT name, id FROM trials ORDER BY id").fetchall())

    def head(self, trial: int) -> Head:
        """Return the end of a trial's log."""
        return self._send_head(trial, "")()

    def records(self, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Record]:
        """Return the records after a position, in order."""
        sql = f"SELECT {_RECORD} FROM records WHERE trial = ? AND position > ? ORDER BY position LIMIT ?"
        return [Record(*row) for row in self.run(sql, (trial, after, limit)).fetchall()]

    def histories(
        self, trial: int, recommendation_indices: Sequence[int], until: int | None = None
    ) -> dict[int, list[bytes]]:
        """Return the bodies of all records about each recommendation, in order, up to a position."""
        limit, values = ("", ()) if until is None else (" AND position <= ?", (until,))
        sql = f"{_HISTORIES} {self.in_clause}{limit} ORDER BY recommendation_index, position"
        return _grouped(self.run(sql, (trial, self.in_values(recommendation_indices), *values)).fetchall())

    def subjects(self, trial: int) -> Iterator[Subject]:
        """Yield every subject that was not erased."""
        sql = f"SELECT {_SUBJECT} FROM subjects WHERE trial = ? ORDER BY pseudonym"
        return (Subject(*row) for row in self.run(sql, (trial,)))

    def notes(self, trial: int) -> Mapping[int, tuple[bytes, str]]:
        """Return salt and free text by the position of their record."""
        rows = self.run("SELECT position, salt, text FROM notes WHERE trial = ?", (trial,))
        return {position: (salt, text) for position, salt, text in rows}

    def note(self, trial: int, position: int) -> str | None:
        """Return the free text of a record, or None."""
        row = self.run("SELECT text FROM notes WHERE trial = ? AND position = ?", (trial, position)).fetchone()
        return row[0] if row else None

    def secret(self, commitment: str) -> bytes | None:
        """Return the secret of a commitment in a trial's log, or None if it is not stored here."""
        if self.secret_file is not None and (found := self.secret_file.find(commitment)) is not None:
            return found
        row = self.run("SELECT secret FROM secrets WHERE commitment = ?", (commitment,)).fetchone()
        return row[0] if row else None

    def has_secrets(self) -> bool:
        """Return whether the store itself contains any secret."""
        return self.run("SELECT 1 FROM secrets LIMIT 1").fetchone() is not None

    def state_before(self, trial: int, position: int) -> tuple[int, bytes] | None:
        """Return the last checkpoint before a position: its position and the policy's state."""
        sql = "SELECT position, state FROM states WHERE trial = ? AND position < ? ORDER BY position DESC LIMIT 1"
        row = self.run(sql, (trial, position)).fetchone()
        return (row[0], row[1]) if row else None

    def updates(self, trial: int, after: int, until: int) -> Sequence[UpdateBlock]:
        """Return the blocks of updates after one position and up to another, in order."""
        sql = "SELECT position, n, data FROM updates WHERE trial = ? AND position > ? AND position <= ?"
        sql += " ORDER BY position"
        return [UpdateBlock(*row) for row in self.run(sql, (trial, after, until)).fetchall()]

    def count_updates(self, trial: int) -> int:
        """Return the number of updates in the table."""
        return int(self.run("SELECT sum(n) FROM updates WHERE trial = ?", (trial,)).fetchone()[0] or 0)

    def tokens(self) -> Sequence[Token]:
        """Return every token, in order of creation."""
        return [Token(*row) for row in self.run(f"SELECT {_TOKEN} FROM tokens ORDER BY id").fetchall()]

    def _send_head(self, trial: int, locked: str) -> Callable[[], Head]:
        cursor = self.run(f"SELECT position, hash, snapshot FROM trials WHERE id = ?{locked}", (trial,))

        def fetch() -> Head:
            row = cursor.fetchone()
            if row is None:
                raise StoreError(f"there is no trial of number {trial}")
            return Head(*row)

        return fetch

    def fetch(
        self,
        trial: int,
        request_ids: Sequence[str],
        recommendation_indices: Sequence[int],
        pseudonyms: Sequence[str],
        locked: str = "",
    ) -> Callable[[], tuple[Head, Fetched]]:
        """Look up the rows that commands need. The queries are sent at once; calling the returned function waits for
        the rows.
        """
        head = self._send_head(trial, locked)
        by_id = "SELECT request_id, body FROM records WHERE trial = ? AND request_id"
        requests = self._send_lookup(by_id, trial, request_ids)
        by_pseudonym = f"SELECT {_SUBJECT} FROM subjects WHERE trial = ? AND pseudonym"
        known = self._send_lookup(by_pseudonym, trial, pseudonyms)
        about = self._send_lookup(
            _HISTORIES, trial, recommendation_indices, " ORDER BY recommendation_index, position"
        )

        def fetch() -> tuple[Head, Fetched]:
            locked, bodies = head(), dict(requests())
            subjects = {row[0]: Subject(*row) for row in known()}
            histories = _grouped(about())
            latest = {subject.latest for subject in subjects.values() if subject.latest is not None}
            if missing := latest - histories.keys():
                histories |= self.histories(trial, sorted(missing))
            return locked, Fetched(bodies, histories, subjects)

        return fetch

    def _send_lookup(self, sql: str, trial: int, values: Sequence[Any], end: str = "") -> Callable[[], list[Any]]:
        """Send a query about some values, if there are any. Calling the returned function fetches the rows."""
        if not values:
            return list
        cursor = self.run(f"{sql} {self.in_clause}{end}", (trial, self.in_values(values)))
        return cursor.fetchall  # type: ignore[no-any-return]


class WriteTransaction(ReadTransaction):
    """A transaction: it is committed completely or not at all. No other writer changes its trials until it ends."""

    types: ClassVar[Mapping[str, str]]
    locked: ClassVar[str]  # the end of a statement that locks the rows it reads
    n_appended = 0  # number of records so far

    @abstractmethod
    def take_possession(self) -> bool:
        """Take possession of the store when the transaction is committed. Return False if this place already has it.

        A restored store (`Store.was_restored`) belongs to nobody until then. Append the records that a restore
        requires in the same transaction, and only if this returns True, because another process may have been faster.
        """

    def wait_turn(self) -> None:
        """Wait for all other transactions that called this, in any process. Later callers wait for this transaction.

        Rare operations use it, such as creating trials and revoking tokens, because they must see all earlier writes.
        """

    @abstractmethod
    def insert(self, table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows into a table with these columns."""

    def add_trial(self, name: str, head: Head) -> int:
        """Add a trial under a new name and return its number."""
        sql = "INSERT INTO trials (name, position, hash, snapshot) VALUES (?, ?, ?, ?)"
        row = self.run(f"{sql} ON CONFLICT (name) DO NOTHING RETURNING id", (name, *head)).fetchone()
        if row is None:
            raise InputError("name", name, "a name that no other trial has")
        return int(row[0])

    def lock_and_fetch(
        self, trial: int, request_ids: Sequence[str], recommendation_indices: Sequence[int], pseudonyms: Sequence[str]
    ) -> Callable[[], tuple[Head, Fetched]]:
        """Fetch rows, with the trial locked until the end of the transaction.

        Lock several trials in the order of their numbers.
        """
        return self.fetch(trial, request_ids, recommendation_indices, pseudonyms, self.locked)

    def append(self, trial: int, records: Sequence[Record], head: Head) -> None:
        """Add records to the log and move its head."""
        self.n_appended += len(records)
        if records:
            self.insert("records", _RECORDS, [(trial, *record) for record in records])
        self.run("UPDATE trials SET position = ?, hash = ?, snapshot = ? WHERE id = ?", (*head, trial))

    def add_subjects(self, trial: int, subjects: Sequence[Subject]) -> None:
        """Add new subjects."""
        rows = [(trial, *subject, subject.folded) for subject in subjects]
        self.insert("subjects", _SUBJECTS | _FOLDED, rows)

    def set_latest(self, trial: int, subject: Subject) -> None:
        """Save a known subject's latest recommendation."""
        sql = "UPDATE subjects SET latest = ? WHERE trial = ? AND pseudonym = ?"
        self.run(sql, (subject.latest, trial, subject.pseudonym))

    def save_note(self, trial: int, position: int, salt: bytes, text: str) -> None:
        """Save the free text of a record."""
        self.run("INSERT INTO notes (trial, position, salt, text) VALUES (?, ?, ?, ?)", (trial, position, salt, text))

    def save_secret(self, trial: int, commitment: str, secret: bytes) -> None:
        """Save the secret of an epoch of a trial, in the store or in the separate file.

        A secret in a separate file is on disk before the transaction commits. If the commit fails, the secret is
        never used.
        """
        if self.secret_file is not None:
            self.secret_file.add(commitment, secret)
        else:
            sql = "INSERT INTO secrets (commitment, trial, secret) VALUES (?, ?, ?)"
            self.run(sql, (commitment, trial, secret))

    def move_secrets(self) -> int:
        """Move all secrets from the store into the separate file. Return the number of secrets moved."""
        assert self.secret_file is not None
        rows = self.run("SELECT commitment, secret FROM secrets").fetchall()
        for commitment, secret in rows:
            if self.secret_file.find(commitment) is None:
                self.secret_file.add(commitment, bytes(secret))
        if rows:
            self.run("DELETE FROM secrets")
        return len(rows)

    def save_states(self, trial: int, states: Sequence[tuple[int, bytes]]) -> None:
        """Save checkpoints: positions, and the policy's state right after each."""
        self.insert("states", _STATES, [(trial, *state) for state in states])

    def drop_states(self, trial: int, from_position: int) -> None:
        """Delete the checkpoints from a position on."""
        self.run("DELETE FROM states WHERE trial = ? AND position >= ?", (trial, from_position))

    def save_updates(self, trial: int, block: UpdateBlock) -> None:
        """Save a block of updates, replacing the block at the same position."""
        sql = "INSERT INTO updates (trial, position, n, data) VALUES (?, ?, ?, ?) ON CONFLICT (trial, position)"
        self.run(f"{sql} DO UPDATE SET n = excluded.n, data = excluded.data", (trial, *block))

    def drop_updates(self, trial: int, after: int, until: int) -> None:
        """Delete the blocks that `updates` would return."""
        self.run("DELETE FROM updates WHERE trial = ? AND position > ? AND position <= ?", (trial, after, until))

    def add_token(self, token: Token) -> Token:
        """Add a token and return it with its ID."""
        marks = ", ".join("?" * len(token[1:]))
        sql = f"INSERT INTO tokens ({_TOKEN.removeprefix('id, ')}) VALUES ({marks}) RETURNING id"
        return token._replace(id=int(self.run(sql, token[1:]).fetchone()[0]))

    def revoke_token(self, id: int, at: str) -> bool:  # noqa: A002  (the field's own name)
        """Revoke a token. Return False if no valid token has this ID."""
        sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id"
        return self.run(sql, (at, id)).fetchone() is not None

    def expire_token(self, id: int, at: str) -> None:  # noqa: A002
        """Make a token expire at a time, unless it expires earlier."""
        self.run("UPDATE tokens SET expires_at = ? WHERE id = ? AND coalesce(expires_at, ?) >= ?", (at, id, at, at))

    def save_last_use(self, id: int, at: str) -> None:  # noqa: A002
        """Save when a token was last used. Several processes may each know of a different use."""
        self.run("UPDATE tokens SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, '') < ?", (at, id, at))


def _grouped(rows: Iterable[tuple[int, bytes]]) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for recommendation_index, body in rows:
        found.setdefault(recommendation_index, []).append(body)
    return found


def as_schema(rows: Sequence[tuple[str, str | None]]) -> Schema:
    """Group the rows of a database's catalogue by table."""
    found: dict[str, set[str]] = {}
    for name, column in rows:
        found.setdefault(name, set()).update([column] if column else [])
    return {name: frozenset(columns) for name, columns in found.items()}
