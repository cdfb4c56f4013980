"""The SQL statements that all database stores share. Written for SQLite; `Dialect` has what differs elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adhere.errors import InputError
from adhere.store.contract import Fetched, Head, LessonBlock, Record, StoreError, Subject, Token
from adhere.store.migrations import FIRST_FORMAT, FORMAT, STEPS

# The columns of tables that are written to in bulk, with the kinds that `Dialect.types` names.
_RECORDS = {"trial": "number", "position": "number", "body": "bytes", "hash": "bytes"}
_RECORDS |= {"request_id": "text", "recommendation_id": "number", "subject": "text"}
_SUBJECTS = {"trial": "number", "pseudonym": "text", "key": "text", "salt": "bytes", "latest": "number"}
_SUBJECT = ", ".join(_SUBJECTS).removeprefix("trial, ")
_RECORD = ", ".join(_RECORDS).removeprefix("trial, ")
_TOKEN = "id, digest, role, site, trial, label, made_at, revoked_at"
_HISTORIES = "SELECT recommendation_id, body FROM records WHERE trial = ? AND recommendation_id"


class Dialect(NamedTuple):
    """What differs between databases."""

    types: Mapping[str, str]
    locked: str  # what a statement that locks the rows it reads ends in
    among: str  # "is one of these", with one mark for all of them: the statement is the same for any number
    together: Callable[[Sequence[Any]], Any]  # the value to put for that mark
    run: Callable[[str, Sequence[Any]], Any]  # run a statement with its values; returns a cursor to fetch from later
    insert: Callable[[str, Mapping[str, str], Sequence[Sequence[Any]]], None]  # rows into a table of these columns


class SqlTransaction:
    """The contract's reads and writes in SQL, within a transaction that the store begins and ends."""

    def __init__(self, dialect: Dialect) -> None:
        self._run, self._insert = dialect.run, dialect.insert
        self._locked, self._among, self._together = dialect.locked, dialect.among, dialect.together

    def trials(self) -> Mapping[str, int]:
        """The number of each trial by name, in order of creation."""
        return dict(self._run("SELECT name, id FROM trials ORDER BY id", ()).fetchall())

    def head(self, trial: int) -> Head:
        """The end of a trial's log."""
        return self._send_head(trial, "")()

    def _send_head(self, trial: int, locked: str) -> Callable[[], Head]:
        cursor = self._run(f"SELECT position, hash, snapshot FROM trials WHERE id = ?{locked}", (trial,))

        def fetch() -> Head:
            row = cursor.fetchone()
            if row is None:
                raise StoreError(f"there is no trial of number {trial}")
            return Head(*row)

        return fetch

    def records(self, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Record]:
        """The records after a position, in order."""
        sql = f"SELECT {_RECORD} FROM records WHERE trial = ? AND position > ? ORDER BY position LIMIT ?"
        return [Record(*row) for row in self._run(sql, (trial, after, limit)).fetchall()]

    def histories(
        self, trial: int, recommendation_ids: Sequence[int], until: int | None = None
    ) -> dict[int, list[bytes]]:
        """The bodies of all records about each recommendation, in order, up to a position."""
        limit, values = ("", ()) if until is None else (" AND position <= ?", (until,))
        sql = f"{_HISTORIES} {self._among}{limit} ORDER BY recommendation_id, position"
        return _grouped(self._run(sql, (trial, self._together(recommendation_ids), *values)).fetchall())

    def subjects(self, trial: int) -> Iterator[Subject]:
        """Every subject that was not erased."""
        sql = f"SELECT {_SUBJECT} FROM subjects WHERE trial = ? ORDER BY pseudonym"
        return (Subject(*row) for row in self._run(sql, (trial,)))

    def notes(self, trial: int) -> Mapping[int, tuple[bytes, str]]:
        """Salt and free text by the position of the record they belong to."""
        rows = self._run("SELECT position, salt, text FROM notes WHERE trial = ?", (trial,))
        return {position: (salt, text) for position, salt, text in rows}

    def tokens(self) -> Sequence[Token]:
        """Every token, in order of creation."""
        return [Token(*row) for row in self._run(f"SELECT {_TOKEN} FROM tokens ORDER BY id", ()).fetchall()]

    def add_trial(self, name: str, head: Head) -> int:
        """Add a trial under a new name; returns its number."""
        sql = "INSERT INTO trials (name, position, hash, snapshot) VALUES (?, ?, ?, ?)"
        row = self._run(f"{sql} ON CONFLICT (name) DO NOTHING RETURNING id", (name, *head)).fetchone()
        if row is None:
            raise InputError("name", name, "a name that no other trial has")
        return int(row[0])

    def lock_and_fetch(
        self, trial: int, request_ids: Sequence[str], recommendation_ids: Sequence[int], pseudonyms: Sequence[str]
    ) -> Callable[[], tuple[Head, Fetched]]:
        """Lock a trial and look up what a batch of commands needs; the result is fetched when it is called."""
        head = self._send_head(trial, self._locked)
        by_id = "SELECT request_id, body FROM records WHERE trial = ? AND request_id"
        requests = self._send_lookup(by_id, trial, request_ids)
        by_pseudonym = f"SELECT {_SUBJECT} FROM subjects WHERE trial = ? AND pseudonym"
        known = self._send_lookup(by_pseudonym, trial, pseudonyms)
        about = self._send_lookup(_HISTORIES, trial, recommendation_ids, " ORDER BY recommendation_id, position")

        def fetch() -> tuple[Head, Fetched]:
            locked, bodies = head(), dict(requests())
            subjects = {row[0]: Subject(*row) for row in known()}
            histories = _grouped(about())
            latest = {subject.latest for subject in subjects.values() if subject.latest is not None}
            if missing := latest - set(recommendation_ids):
                histories |= self.histories(trial, sorted(missing))
            return locked, Fetched(bodies, histories, subjects)

        return fetch

    def _send_lookup(self, sql: str, trial: int, values: Sequence[Any], end: str = "") -> Callable[[], list[Any]]:
        """Send a query about some values, if there are any; the rows are fetched when the result is called."""
        if not values:
            return list
        cursor = self._run(f"{sql} {self._among}{end}", (trial, self._together(values)))
        return cursor.fetchall  # type: ignore[no-any-return]

    def append(self, trial: int, records: Sequence[Record], head: Head) -> None:
        """Add records to the log and move its head."""
        if records:
            self._insert("records", _RECORDS, [(trial, *record) for record in records])
        self._run("UPDATE trials SET position = ?, hash = ?, snapshot = ? WHERE id = ?", (*head, trial))

    def add_subjects(self, trial: int, subjects: Sequence[Subject]) -> None:
        """Add new subjects."""
        self._insert("subjects", _SUBJECTS, [(trial, *subject) for subject in subjects])

    def set_latest(self, trial: int, subject: Subject) -> None:
        """Save a known subject's latest recommendation."""
        sql = "UPDATE subjects SET latest = ? WHERE trial = ? AND pseudonym = ?"
        self._run(sql, (subject.latest, trial, subject.pseudonym))

    def erase(self, trial: int, subject: Subject) -> None:
        """Delete a subject's pseudonym and salt, and the free text of the records about their recommendations."""
        theirs = "SELECT recommendation_id FROM records WHERE trial = ? AND subject = ?"
        about = f"SELECT position FROM records WHERE trial = ? AND recommendation_id IN ({theirs})"
        sql = f"DELETE FROM notes WHERE trial = ? AND position IN ({about})"
        self._run(sql, (trial, trial, trial, subject.key))
        self._run("DELETE FROM subjects WHERE trial = ? AND key = ?", (trial, subject.key))

    def save_note(self, trial: int, position: int, salt: bytes, text: str) -> None:
        """Save the free text that belongs to a record."""
        self._run(
            "INSERT INTO notes (trial, position, salt, text) VALUES (?, ?, ?, ?)", (trial, position, salt, text)
        )

    def save_state(self, trial: int, position: int, state: bytes) -> None:
        """Save a checkpoint: the policy's state right after a position."""
        self._run("INSERT INTO states (trial, position, state) VALUES (?, ?, ?)", (trial, position, state))

    def state_before(self, trial: int, position: int) -> tuple[int, bytes] | None:
        """The last checkpoint before a position: its position and the policy's state."""
        sql = "SELECT position, state FROM states WHERE trial = ? AND position < ? ORDER BY position DESC LIMIT 1"
        row = self._run(sql, (trial, position)).fetchone()
        return (row[0], row[1]) if row else None

    def drop_states(self, trial: int, from_position: int) -> None:
        """Delete the checkpoints from a position on."""
        self._run("DELETE FROM states WHERE trial = ? AND position >= ?", (trial, from_position))

    def lessons(self, trial: int, after: int, until: int) -> Sequence[LessonBlock]:
        """The blocks of lessons after one position and up to another, in order."""
        sql = "SELECT position, n, data FROM lessons WHERE trial = ? AND position > ? AND position <= ?"
        sql += " ORDER BY position"
        return [LessonBlock(*row) for row in self._run(sql, (trial, after, until)).fetchall()]

    def count_lessons(self, trial: int) -> int:
        """The number of lessons in the table."""
        return int(self._run("SELECT sum(n) FROM lessons WHERE trial = ?", (trial,)).fetchone()[0] or 0)

    def save_lessons(self, trial: int, block: LessonBlock) -> None:
        """Save a block of lessons, in place of the one at the same position."""
        sql = "INSERT INTO lessons (trial, position, n, data) VALUES (?, ?, ?, ?) ON CONFLICT (trial, position)"
        self._run(f"{sql} DO UPDATE SET n = excluded.n, data = excluded.data", (trial, *block))

    def drop_lessons(self, trial: int, after: int, until: int) -> None:
        """Delete the blocks that `lessons` would return."""
        self._run("DELETE FROM lessons WHERE trial = ? AND position > ? AND position <= ?", (trial, after, until))

    def add_token(self, token: Token) -> Token:
        """Add a token; returns it with its id."""
        sql = (
            "INSERT INTO tokens (digest, role, site, trial, label, made_at, revoked_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id"
        )
        return token._replace(id=int(self._run(sql, token[1:]).fetchone()[0]))

    def revoke_token(self, id: int, at: str) -> bool:  # noqa: A002  (the field's own name)
        """Revoke a token; False if no valid token has this id."""
        sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id"
        return self._run(sql, (at, id)).fetchone() is not None


def migrate(dialect: Dialect, where: str) -> None:
    """Create the tables, or bring them to this version's format, within the caller's transaction."""
    dialect.run("CREATE TABLE IF NOT EXISTS adhere_schema (version INTEGER NOT NULL)", ())
    present = _format(dialect, where)
    for number, step in enumerate(STEPS, FIRST_FORMAT):
        if number > present:
            for statement in step:
                dialect.run(statement.format_map(dialect.types), ())
            dialect.run("INSERT INTO adhere_schema (version) VALUES (?)", (number,))


def check_format(dialect: Dialect, where: str) -> None:
    """Refuse tables of another format: a reader cannot migrate them."""
    present = _format(dialect, where)
    if present < FORMAT:
        raise StoreError(
            f"{where} was written by an older adhere (tables of version {present}; this one reads {FORMAT}). "
            "Open it to write once, which brings it up to date."
        )


def _format(dialect: Dialect, where: str) -> int:
    present = int(dialect.run("SELECT max(version) FROM adhere_schema", ()).fetchone()[0] or 0)
    if 0 < present < FIRST_FORMAT:
        raise StoreError(
            f"{where} was written by adhere 0.1.0 in format {present}, which this version (format {FORMAT}) cannot "
            "read; start a new file."
        )
    if present > FORMAT:
        raise StoreError(
            f"{where} was written by a newer adhere (tables of version {present}; this one knows {FORMAT}). "
            "Use that version, or restore a backup made by this one."
        )
    return present


def _grouped(rows: Iterable[tuple[int, bytes]]) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for recommendation_id, body in rows:
        found.setdefault(recommendation_id, []).append(body)
    return found
