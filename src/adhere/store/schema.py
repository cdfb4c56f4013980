"""The tables of a store, as migration steps from format to format. A released step is never edited; each change is a
new step.

`{bytes}`, `{number}`, `{text}` and `{counter}` stand for the database's types, `{clustered}` for a table stored in
the order of its primary key. The indexes contain all columns that their statements select or sort by.

No earlier format was released: databases with older formats are refused, not migrated.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from adhere.errors import StoreError
from adhere.store.sqlite_transaction import CATALOGUE
from adhere.store.transactions import PRIMARY_KEY, ReadTransaction, Schema, WriteTransaction, as_schema

_TYPES = {"bytes": "", "number": "", "text": "", "counter": "INTEGER PRIMARY KEY", "clustered": ""}


def schema_of(steps: Sequence[Sequence[str]]) -> Schema:
    """Return the tables that some migration steps create, found by running their statements."""
    with closing(sqlite3.connect(":memory:")) as scratch:
        for step in steps:
            for statement in step:
                scratch.execute(statement.format_map(_TYPES))
        made = as_schema(scratch.execute(CATALOGUE).fetchall())
    return {name: columns for name, columns in made.items() if not name.startswith("sqlite_")}


def missing_in(present: Schema, expected: Schema) -> str | None:
    """Return a message about the first table, column or index that a database lacks, or None. Additional tables,
    columns and indexes are accepted.

    >>> missing_in({"trials": frozenset({"id"})}, {"trials": frozenset({"id", "name"})})
    'trials has no column name'
    """
    for name, columns in expected.items():
        if name.endswith(PRIMARY_KEY) and present.get(name) != columns:
            return f"the primary key of {name.removesuffix(PRIMARY_KEY)} is not ({', '.join(sorted(columns))})"
        if name not in present:
            return f"there is no table or index {name}"
        if lacking := sorted(columns - present[name]):
            return f"{name} has no column {lacking[0]}"
    return None


_LAST = "(SELECT max(position) FROM records WHERE trial = trials.id)"
_TORN = f"""
    SELECT name FROM trials LEFT JOIN records ON records.trial = trials.id AND records.position = {_LAST}
    WHERE trials.position <> coalesce(records.position, 0) OR (trials.position > 0 AND trials.hash <> records.hash)
    ORDER BY trials.id LIMIT 1
"""
_INCOMPLETE = """
    SELECT name FROM trials WHERE position <> (SELECT count(*) FROM records WHERE trial = trials.id)
    ORDER BY id LIMIT 1
"""


def check_heads(view: ReadTransaction, where: str, *, counting: bool = False) -> None:
    """Refuse a store with a trial whose last record is not its head. If `counting`, also refuse missing records."""
    torn = view.run(_TORN).fetchone() or (counting and view.run(_INCOMPLETE).fetchone())
    if torn:
        raise StoreError(
            f"{where}: the log of trial {torn[0]!r} does not end at its head, or lacks records: {view.torn_by}"
        )


FIRST_FORMAT = 7
STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE trials (
            id {counter}, name {text} NOT NULL UNIQUE,
            position {number} NOT NULL, hash {bytes} NOT NULL, snapshot {bytes} NOT NULL)""",
        """CREATE TABLE records (
            trial {number} NOT NULL REFERENCES trials(id), position {number} NOT NULL,
            body {bytes} NOT NULL, hash {bytes} NOT NULL,
            request_id {text}, recommendation_index {number}, subject {text},
            PRIMARY KEY (trial, position)){clustered}""",
        "CREATE UNIQUE INDEX records_by_request ON records(trial, request_id) WHERE request_id IS NOT NULL",
        """CREATE INDEX records_by_recommendation ON records(trial, recommendation_index, position)
            WHERE recommendation_index IS NOT NULL""",
        """CREATE TABLE states (
            trial {number} NOT NULL REFERENCES trials(id), position {number} NOT NULL, state {bytes} NOT NULL,
            PRIMARY KEY (trial, position))""",
        """CREATE TABLE updates (
            trial {number} NOT NULL REFERENCES trials(id), position {number} NOT NULL, n {number} NOT NULL,
            data {bytes} NOT NULL, PRIMARY KEY (trial, position))""",
        """CREATE TABLE subjects (
            trial {number} NOT NULL REFERENCES trials(id), pseudonym {text} NOT NULL, key {text} NOT NULL,
            salt {bytes} NOT NULL, latest {number}, folded {text} NOT NULL,
            PRIMARY KEY (trial, pseudonym)){clustered}""",
        """CREATE TABLE erased (
            trial {number} NOT NULL REFERENCES trials(id), key {text} NOT NULL, latest {number},
            PRIMARY KEY (trial, key)){clustered}""",
        """CREATE TABLE notes (
            trial {number} NOT NULL REFERENCES trials(id), position {number} NOT NULL, salt {bytes} NOT NULL,
            text {text} NOT NULL, PRIMARY KEY (trial, position))""",
        """CREATE TABLE secrets (
            commitment {text} PRIMARY KEY, trial {number} NOT NULL REFERENCES trials(id), secret {bytes} NOT NULL)""",
        """CREATE TABLE tokens (
            id {counter}, digest {bytes} NOT NULL UNIQUE, role {text} NOT NULL, site {text}, trial {text},
            label {text} NOT NULL, made_at {text} NOT NULL, revoked_at {text}, expires_at {text},
            last_used_at {text})""",
        """CREATE TABLE sessions (
            digest {bytes} PRIMARY KEY, token {number} NOT NULL, expires_at {text} NOT NULL)""",
        "CREATE TABLE links (digest {bytes} PRIMARY KEY, token {number} NOT NULL, expires_at {text} NOT NULL)",
        """CREATE TABLE accesses (
            id {counter}, at {text} NOT NULL, token {number} NOT NULL, trial {number} NOT NULL, kind {text} NOT NULL,
            recommendation_id {text}, head {bytes} NOT NULL, n {number} NOT NULL)""",
        """CREATE UNIQUE INDEX accesses_by_window ON accesses(token, trial, kind, at)
            WHERE recommendation_id IS NULL""",
        "CREATE INDEX accesses_by_trial ON accesses(trial, id)",
        """CREATE TABLE installation (
            id {number} PRIMARY KEY, store_id {text} NOT NULL, opening {text} NOT NULL, is_open {number} NOT NULL)""",
    ),
)
FORMAT = FIRST_FORMAT + len(STEPS) - 1


def migrate(transaction: WriteTransaction, where: str) -> None:
    """Create the tables, or migrate them to this version's format, within the caller's transaction."""
    present = known_format(transaction, where)
    if present:
        check_heads(transaction, where)
    else:
        transaction.run("CREATE TABLE IF NOT EXISTS adhere_schema (version INTEGER NOT NULL)")
    for number, step in enumerate(STEPS, FIRST_FORMAT):
        if number > present:
            for statement in step:
                transaction.run(statement.format_map(transaction.types))
            transaction.run("INSERT INTO adhere_schema (version) VALUES (?)", (number,))
    if transaction.installation() is None:
        sql = "INSERT INTO installation (id, store_id, opening, is_open) VALUES (1, ?, '', 0)"
        transaction.run(sql, (secrets.token_hex(16),))


def check_format(transaction: ReadTransaction, where: str) -> None:
    """Refuse tables of another format, because a reader cannot migrate them."""
    present = known_format(transaction, where)
    if present < FORMAT:
        raise StoreError(
            f"{where} was written by an older adhere (tables of version {present}; this one reads {FORMAT}). "
            "Open it for writing once to migrate it."
        )


def known_format(transaction: ReadTransaction, where: str) -> int:
    """Return the format of the tables, or 0 if there are none. Refuse tables that this version cannot have
    written.
    """
    schema = transaction.schema()
    present: object = 0
    if "adhere_schema" in schema:
        present = _version(transaction) if "version" in schema["adhere_schema"] else None
    if not isinstance(present, int):
        raise StoreError(f"{where} is a database of something else (its table adhere_schema has no version)")
    if 0 < present < FIRST_FORMAT:
        raise StoreError(
            f"{where} has tables of version {present}, of an adhere that was never released; this one reads "
            f"version {FORMAT}. Start a new file."
        )
    if present > FORMAT:
        raise StoreError(
            f"{where} was written by a newer adhere (tables of version {present}; this one knows {FORMAT}). "
            "Use that version, or restore a backup made by this one."
        )
    expected = schema_of(STEPS[: max(present - FIRST_FORMAT + 1, 0)])
    if lacking := missing_in(schema, expected):
        raise StoreError(
            f"{where} claims to have tables of version {present}, but {lacking}: adhere did not write "
            "it so. Restore a backup."
        )
    if not present and (taken := sorted(schema.keys() & schema_of(STEPS).keys())):
        raise StoreError(f"{where} is a database of something else (it has a table {taken[0]})")
    return present


def _version(transaction: ReadTransaction) -> object:
    """Return the latest version in the table, of any type, or 0 if there is none."""
    found: object = transaction.run("SELECT max(version) FROM adhere_schema").fetchone()[0]
    return 0 if found is None else found
