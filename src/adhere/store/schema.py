"""What tables, primary keys and indexes a format has, to tell adhere's databases from others."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing

Schema = Mapping[str, frozenset[str]]  # the columns of each table and of its primary key; an index has none
PRIMARY_KEY = " primary key"  # after the name of its table

CATALOGUE = f"""
    SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table'
    UNION ALL SELECT tables.name || '{PRIMARY_KEY}', columns.name
    FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' AND columns.pk
    UNION ALL SELECT name, NULL FROM sqlite_master WHERE type = 'index'
"""
_TYPES = {"bytes": "", "number": "", "text": "", "counter": "INTEGER PRIMARY KEY", "clustered": ""}


def schema_of(steps: Sequence[Sequence[str]]) -> Schema:
    """What the statements of some steps make, found by running them."""
    with closing(sqlite3.connect(":memory:")) as scratch:
        for step in steps:
            for statement in step:
                scratch.execute(statement.format_map(_TYPES))
        made = as_schema(scratch.execute(CATALOGUE).fetchall())
    return {name: columns for name, columns in made.items() if not name.startswith("sqlite_")}


def as_schema(rows: Sequence[tuple[str, str | None]]) -> Schema:
    """The rows of a catalogue, by table."""
    found: dict[str, set[str]] = {}
    for name, column in rows:
        found.setdefault(name, set()).update([column] if column else [])
    return {name: frozenset(columns) for name, columns in found.items()}


def missing_in(present: Schema, expected: Schema) -> str | None:
    """The first thing that a database lacks, in words. It may have more tables, columns and indexes.

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
