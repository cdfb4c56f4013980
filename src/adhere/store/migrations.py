"""The tables, version by version. A step that was released is never edited; a change is a step of its own.

`{bytes}`, `{number}` and `{counter}` are the database's words for the types.
"""

from __future__ import annotations

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE trials (
            id {counter}, name TEXT NOT NULL UNIQUE,
            position {number} NOT NULL, hash {bytes} NOT NULL, snapshot {bytes} NOT NULL)""",
        """CREATE TABLE records (
            trial {number} NOT NULL REFERENCES trials(id), position {number} NOT NULL,
            body {bytes} NOT NULL, hash {bytes} NOT NULL,
            request TEXT, decision {number}, subject TEXT,
            PRIMARY KEY (trial, position)){clustered}""",
        "CREATE UNIQUE INDEX records_by_request ON records(trial, request) WHERE request IS NOT NULL",
        "CREATE INDEX records_by_decision ON records(trial, decision) WHERE decision IS NOT NULL",
        "CREATE INDEX records_by_subject ON records(trial, subject) WHERE subject IS NOT NULL",
        """CREATE TABLE states (
            trial {number} NOT NULL REFERENCES trials(id), position {number} NOT NULL, state {bytes} NOT NULL,
            PRIMARY KEY (trial, position))""",
        """CREATE TABLE subjects (
            trial {number} NOT NULL REFERENCES trials(id), pseudonym TEXT NOT NULL, key TEXT NOT NULL,
            salt {bytes} NOT NULL, PRIMARY KEY (trial, pseudonym))""",
        """CREATE TABLE notes (
            trial {number} NOT NULL REFERENCES trials(id), position {number} NOT NULL, salt {bytes} NOT NULL,
            text TEXT NOT NULL, PRIMARY KEY (trial, position))""",
        """CREATE TABLE tokens (
            id {counter}, digest {bytes} NOT NULL UNIQUE, role TEXT NOT NULL, site TEXT, trial TEXT,
            label TEXT NOT NULL, made_at TEXT NOT NULL, revoked_at TEXT)""",
    ),
)
LATEST = len(STEPS)
