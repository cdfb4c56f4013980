"""What the stores in databases share: the statements. Written for SQLite; `Dialect` says what others call things."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adhere.errors import InputError
from adhere.store.contract import Found, Head, Record, StoreError, Subject, Token
from adhere.store.migrations import LATEST, STEPS

_RECORD = "position, body, hash, request, decision, subject"
_TOKEN = "id, digest, role, site, trial, label, made_at, revoked_at"
_MANY = 500  # values in one statement


class Dialect(NamedTuple):
    """How a database is spoken to."""

    types: Mapping[str, str]
    locked: str  # what a statement that locks the rows it reads ends in
    run: Callable[[str, Sequence[Any]], Any]  # run a statement with its values; returns a cursor
    run_many: Callable[[str, Sequence[Sequence[Any]]], None]


class SqlWriting:
    """The contract's reading and writing, in SQL, within a transaction that somebody else begins and ends."""

    def __init__(self, dialect: Dialect) -> None:
        self._run, self._run_many = dialect.run, dialect.run_many
        self._locked = dialect.locked

    def trials(self) -> Mapping[str, int]:
        """The number of each trial, by name, in the order they were made."""
        return dict(self._run("SELECT name, id FROM trials ORDER BY id", ()).fetchall())

    def head(self, trial: int) -> Head:
        """The end of a trial's log."""
        return self._head(trial, "")

    def _head(self, trial: int, locked: str) -> Head:
        sql = f"SELECT position, hash, snapshot FROM trials WHERE id = ?{locked}"
        return Head(*self._run(sql, (trial,)).fetchone())

    def records(self, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Record]:
        """The records that follow a position, in order."""
        sql = f"SELECT {_RECORD} FROM records WHERE trial = ? AND position > ? ORDER BY position LIMIT ?"
        return [Record(*row) for row in self._run(sql, (trial, after, limit)).fetchall()]

    def cases(self, trial: int, decisions: Sequence[int], until: int | None = None) -> Mapping[int, Sequence[bytes]]:
        """The bodies of all records about each decision, in order, up to a position."""
        found: dict[int, list[bytes]] = defaultdict(list)
        limit, values = ("", ()) if until is None else (" AND position <= ?", (until,))
        for some in _in_parts(decisions):
            sql = f"SELECT decision, body FROM records WHERE trial = ? AND decision IN ({_marks(some)}){limit}"
            for decision, body in self._run(f"{sql} ORDER BY position", (trial, *some, *values)).fetchall():
                found[decision].append(body)
        return found

    def subjects(self, trial: int) -> Iterator[Subject]:
        """Every subject that was not erased."""
        sql = "SELECT pseudonym, key, salt FROM subjects WHERE trial = ? ORDER BY pseudonym"
        return (Subject(*row) for row in self._run(sql, (trial,)))

    def notes(self, trial: int) -> Mapping[int, tuple[bytes, str]]:
        """Free text by the position of the record it belongs to, each with its salt."""
        rows = self._run("SELECT position, salt, text FROM notes WHERE trial = ?", (trial,))
        return {position: (salt, text) for position, salt, text in rows}

    def tokens(self) -> Sequence[Token]:
        """Every token, in the order they were made."""
        return [Token(*row) for row in self._run(f"SELECT {_TOKEN} FROM tokens ORDER BY id", ()).fetchall()]

    def make_trial(self, name: str, head: Head) -> int:
        """Enter a trial; its name must be new."""
        if self._run("SELECT 1 FROM trials WHERE name = ?", (name,)).fetchone():
            raise InputError("name", name, "a name that no other trial has")
        sql = "INSERT INTO trials (name, position, hash, snapshot) VALUES (?, ?, ?, ?) RETURNING id"
        return int(self._run(sql, (name, *head)).fetchone()[0])

    def lock(self, trial: int) -> Head:
        """Take a trial for this transaction alone."""
        return self._head(trial, self._locked)

    def find(self, trial: int, requests: Sequence[str], decisions: Sequence[int], pseudonyms: Sequence[str]) -> Found:
        """All that a batch of requests needs to know of the past, at once."""
        asked: dict[str, bytes] = {}
        for some in _in_parts(requests):
            sql = f"SELECT request, body FROM records WHERE trial = ? AND request IN ({_marks(some)})"
            asked.update(self._run(sql, (trial, *some)).fetchall())
        known: dict[str, Subject] = {}
        for some in _in_parts(pseudonyms):
            latest = "SELECT max(decision) FROM records r WHERE r.trial = s.trial AND r.subject = s.key"
            sql = f"SELECT pseudonym, key, salt, ({latest}) FROM subjects s WHERE trial = ? AND pseudonym IN"
            for row in self._run(f"{sql} ({_marks(some)})", (trial, *some)).fetchall():
                known[row[0]] = Subject(*row)
        again = [subject.latest for subject in known.values() if subject.latest is not None]
        return Found(asked, self.cases(trial, [*decisions, *again]), known)

    def append(self, trial: int, records: Sequence[Record], head: Head) -> None:
        """Add records to the log and move its head."""
        sql = f"INSERT INTO records (trial, {_RECORD}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self._run_many(sql, [(trial, *record) for record in records])
        self._run("UPDATE trials SET position = ?, hash = ?, snapshot = ? WHERE id = ?", (*head, trial))

    def enrol(self, trial: int, subjects: Sequence[Subject]) -> None:
        """Enter new subjects."""
        sql = "INSERT INTO subjects (trial, pseudonym, key, salt) VALUES (?, ?, ?, ?)"
        self._run_many(sql, [(trial, *subject[:3]) for subject in subjects])

    def erase(self, trial: int, subject: Subject) -> None:
        """Forget a subject's pseudonym and salt, and the free text of the records about their recommendations."""
        theirs = "SELECT decision FROM records WHERE trial = ? AND subject = ?"
        about = f"SELECT position FROM records WHERE trial = ? AND decision IN ({theirs})"
        sql = f"DELETE FROM notes WHERE trial = ? AND position IN ({about})"
        self._run(sql, (trial, trial, trial, subject.key))
        self._run("DELETE FROM subjects WHERE trial = ? AND key = ?", (trial, subject.key))

    def note(self, trial: int, position: int, salt: bytes, text: str) -> None:
        """Keep free text that belongs to a record."""
        self._run(
            "INSERT INTO notes (trial, position, salt, text) VALUES (?, ?, ?, ?)", (trial, position, salt, text)
        )

    def keep_state(self, trial: int, position: int, state: bytes) -> None:
        """Keep a copy of the policy's state right after a position."""
        self._run("INSERT INTO states (trial, position, state) VALUES (?, ?, ?)", (trial, position, state))

    def state_before(self, trial: int, position: int) -> tuple[int, bytes] | None:
        """The latest kept state that stands before a position, and where it stands."""
        sql = "SELECT position, state FROM states WHERE trial = ? AND position < ? ORDER BY position DESC LIMIT 1"
        row = self._run(sql, (trial, position)).fetchone()
        return (row[0], row[1]) if row else None

    def drop_states(self, trial: int, from_position: int) -> None:
        """Forget the kept states from a position on."""
        self._run("DELETE FROM states WHERE trial = ? AND position >= ?", (trial, from_position))

    def add_token(self, token: Token) -> Token:
        """Enter a token; returns it with its number."""
        sql = (
            "INSERT INTO tokens (digest, role, site, trial, label, made_at, revoked_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id"
        )
        return token._replace(id=int(self._run(sql, token[1:]).fetchone()[0]))

    def revoke_token(self, id: int, at: str) -> bool:  # noqa: A002  (the field's own name)
        """Revoke a token; False if there is none that is still good."""
        sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
        return bool(self._run(sql, (at, id)).rowcount)


def migrate(dialect: Dialect, where: str) -> None:
    """Bring the tables to this version of adhere, within the caller's transaction."""
    dialect.run("CREATE TABLE IF NOT EXISTS adhere_schema (version INTEGER NOT NULL)", ())
    row = dialect.run("SELECT max(version) FROM adhere_schema", ()).fetchone()
    version = row[0] or 0
    if version > LATEST:
        raise StoreError(
            f"{where} was written by a newer adhere (tables of version {version}; this one knows {LATEST}). "
            "Use that version, or restore a backup made by this one."
        )
    for step in range(version, LATEST):
        for statement in STEPS[step]:
            dialect.run(statement.format_map(dialect.types), ())
        dialect.run("INSERT INTO adhere_schema (version) VALUES (?)", (step + 1,))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _in_parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[first : first + _MANY] for first in range(0, len(values), _MANY))
