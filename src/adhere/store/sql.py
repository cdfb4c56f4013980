"""What the stores in databases share: the statements. Written for SQLite; `Dialect` says what others call things."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adhere.errors import InputError
from adhere.store.contract import Found, Head, Record, StoreError, Subject, Token
from adhere.store.migrations import LATEST, STEPS

# The columns of tables that are written to in bulk, with the kinds that `Dialect.types` names.
_RECORDS = {"trial": "number", "position": "number", "body": "bytes", "hash": "bytes"}
_RECORDS |= {"request": "text", "decision": "number", "subject": "text"}
_SUBJECTS = {"trial": "number", "pseudonym": "text", "key": "text", "salt": "bytes", "latest": "number"}
_SUBJECT = ", ".join(_SUBJECTS).removeprefix("trial, ")
_RECORD = ", ".join(_RECORDS).removeprefix("trial, ")
_TOKEN = "id, digest, role, site, trial, label, made_at, revoked_at"
_CASES = "SELECT decision, body FROM records WHERE trial = ? AND decision"


class Dialect(NamedTuple):
    """How a database is spoken to."""

    types: Mapping[str, str]
    locked: str  # what a statement that locks the rows it reads ends in
    among: str  # "is one of these", with one mark for all of them: the statement is the same for any number
    together: Callable[[Sequence[Any]], Any]  # the value to put for that mark
    run: Callable[[str, Sequence[Any]], Any]  # run a statement with its values; returns a cursor to fetch from later
    insert: Callable[[str, Mapping[str, str], Sequence[Sequence[Any]]], None]  # rows into a table of these columns


class SqlWriting:
    """The contract's reading and writing, in SQL, within a transaction that somebody else begins and ends."""

    def __init__(self, dialect: Dialect) -> None:
        self._run, self._insert = dialect.run, dialect.insert
        self._locked, self._among, self._together = dialect.locked, dialect.among, dialect.together

    def trials(self) -> Mapping[str, int]:
        """The number of each trial, by name, in the order they were made."""
        return dict(self._run("SELECT name, id FROM trials ORDER BY id", ()).fetchall())

    def head(self, trial: int) -> Head:
        """The end of a trial's log."""
        return self._head(trial, "")

    def _head(self, trial: int, locked: str) -> Head:
        return self._sent_head(trial, locked)()

    def _sent_head(self, trial: int, locked: str) -> Callable[[], Head]:
        cursor = self._run(f"SELECT position, hash, snapshot FROM trials WHERE id = ?{locked}", (trial,))

        def fetched() -> Head:
            row = cursor.fetchone()
            if row is None:
                raise StoreError(f"there is no trial of number {trial}")
            return Head(*row)

        return fetched

    def records(self, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Record]:
        """The records that follow a position, in order."""
        sql = f"SELECT {_RECORD} FROM records WHERE trial = ? AND position > ? ORDER BY position LIMIT ?"
        return [Record(*row) for row in self._run(sql, (trial, after, limit)).fetchall()]

    def cases(self, trial: int, decisions: Sequence[int], until: int | None = None) -> dict[int, list[bytes]]:
        """The bodies of all records about each decision, in order, up to a position."""
        limit, values = ("", ()) if until is None else (" AND position <= ?", (until,))
        sql = f"{_CASES} {self._among}{limit} ORDER BY decision, position"
        return _grouped(self._run(sql, (trial, self._together(decisions), *values)).fetchall())

    def subjects(self, trial: int) -> Iterator[Subject]:
        """Every subject that was not erased."""
        sql = f"SELECT {_SUBJECT} FROM subjects WHERE trial = ? ORDER BY pseudonym"
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
        sql = "INSERT INTO trials (name, position, hash, snapshot) VALUES (?, ?, ?, ?)"
        row = self._run(f"{sql} ON CONFLICT (name) DO NOTHING RETURNING id", (name, *head)).fetchone()
        if row is None:
            raise InputError("name", name, "a name that no other trial has")
        return int(row[0])

    def lock(self, trial: int) -> Head:
        """Take a trial for this transaction alone."""
        return self._head(trial, self._locked)

    def find(self, trial: int, requests: Sequence[str], decisions: Sequence[int], pseudonyms: Sequence[str]) -> Found:
        """All that a batch of requests needs to know of the past, at once."""
        return self._sent_find(trial, requests, decisions, pseudonyms)()

    def take(
        self, trial: int, requests: Sequence[str], decisions: Sequence[int], pseudonyms: Sequence[str]
    ) -> Callable[[], tuple[Head, Found]]:
        """`lock` and `find` in one: both are sent off, and waited for when the result is called for."""
        head = self._sent_head(trial, self._locked)
        found = self._sent_find(trial, requests, decisions, pseudonyms)
        return lambda: (head(), found())

    def _sent_find(
        self, trial: int, requests: Sequence[str], decisions: Sequence[int], pseudonyms: Sequence[str]
    ) -> Callable[[], Found]:
        asked = self._among_these("SELECT request, body FROM records WHERE trial = ? AND request", trial, requests)
        known = self._among_these(f"SELECT {_SUBJECT} FROM subjects WHERE trial = ? AND pseudonym", trial, pseudonyms)
        decided = self._among_these(_CASES, trial, decisions, " ORDER BY decision, position")

        def fetched() -> Found:
            bodies = dict(asked())
            subjects = {row[0]: Subject(*row) for row in known()}
            cases = _grouped(decided())
            again = {subject.latest for subject in subjects.values() if subject.latest is not None} - set(decisions)
            if again:
                cases |= self.cases(trial, sorted(again))
            return Found(bodies, cases, subjects)

        return fetched

    def _among_these(self, sql: str, trial: int, values: Sequence[Any], end: str = "") -> Callable[[], list[Any]]:
        """Send a question about some values, if there are any; the answer is fetched when it is called for."""
        if not values:
            return list
        cursor = self._run(f"{sql} {self._among}{end}", (trial, self._together(values)))
        return cursor.fetchall  # type: ignore[no-any-return]

    def append(self, trial: int, records: Sequence[Record], head: Head) -> None:
        """Add records to the log and move its head."""
        if records:
            self._insert("records", _RECORDS, [(trial, *record) for record in records])
        self._run("UPDATE trials SET position = ?, hash = ?, snapshot = ? WHERE id = ?", (*head, trial))

    def enrol(self, trial: int, subjects: Sequence[Subject]) -> None:
        """Enter new subjects."""
        self._insert("subjects", _SUBJECTS, [(trial, *subject) for subject in subjects])

    def follow(self, trial: int, subject: Subject) -> None:
        """Note a known subject's latest recommendation."""
        sql = "UPDATE subjects SET latest = ? WHERE trial = ? AND pseudonym = ?"
        self._run(sql, (subject.latest, trial, subject.pseudonym))

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
        sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id"
        return self._run(sql, (at, id)).fetchone() is not None


def migrate(dialect: Dialect, where: str) -> None:
    """Bring the tables to this version of adhere, within the caller's transaction."""
    dialect.run("CREATE TABLE IF NOT EXISTS adhere_schema (version INTEGER NOT NULL)", ())
    for step in range(_version(dialect, where), LATEST):
        for statement in STEPS[step]:
            dialect.run(statement.format_map(dialect.types), ())
        dialect.run("INSERT INTO adhere_schema (version) VALUES (?)", (step + 1,))


def check_version(dialect: Dialect, where: str) -> None:
    """Refuse tables of another version: who only reads cannot bring them to this one."""
    version = _version(dialect, where)
    if version < LATEST:
        raise StoreError(
            f"{where} was written by an older adhere (tables of version {version}; this one reads {LATEST}). "
            "Open it to write once, which brings it up to date."
        )


def _version(dialect: Dialect, where: str) -> int:
    version = int(dialect.run("SELECT max(version) FROM adhere_schema", ()).fetchone()[0] or 0)
    if version > LATEST:
        raise StoreError(
            f"{where} was written by a newer adhere (tables of version {version}; this one knows {LATEST}). "
            "Use that version, or restore a backup made by this one."
        )
    return version


def _grouped(rows: Iterable[tuple[int, bytes]]) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for decision, body in rows:
        found.setdefault(decision, []).append(body)
    return found
