"""Tables in PostgreSQL that were restored from a dump are told from those that were left there."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from adhere.store import StoreError
from adhere.store.postgres import PostgresStore

from .places import append, fill, make_trial, record
from .postgres_server import program


@pytest.fixture
def other_database(database_url: str) -> Iterator[str]:
    """The address of another database of the same server, empty."""
    name = f"other_{uuid.uuid4().hex}"
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield database_url.replace("/postgres?", f"/{name}?")
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _schema(url: str) -> str:
    return url.rpartition("%3D")[2]


def _move(url: str, to: str, folder: Path) -> None:
    """Dump a database and restore it into another, which may be the same."""
    dump = folder / "dump"
    source, target = url.partition("&")[0], to.partition("&")[0]
    subprocess.run([program("pg_dump"), "-Fc", "-n", _schema(url), "-f", dump, "-d", source], check=True)
    subprocess.run([program("pg_restore"), "--clean", "--if-exists", "-d", target, dump], check=True)


def test_tables_that_are_opened_again_were_not_restored(database_url: str) -> None:
    for _ in range(2):
        with closing(PostgresStore(database_url)) as store, closing(PostgresStore(database_url)) as another:
            assert not store.was_restored
            assert not another.was_restored
            with store.writing() as transaction:
                assert not transaction.take_possession()


def test_a_dump_in_another_database_is_taken_possession_of_once(
    database_url: str, other_database: str, tmp_path: Path
) -> None:
    with closing(PostgresStore(database_url)) as store:
        fill(store, make_trial(store), record(1))
    _move(database_url, other_database, tmp_path)
    with closing(PostgresStore(other_database)) as first, closing(PostgresStore(other_database)) as second:
        assert first.was_restored
        assert second.was_restored
        with first.writing() as transaction:
            assert transaction.take_possession()
            append(transaction, 1, record(2))
        with second.writing() as transaction:
            assert not transaction.take_possession()
        assert not first.was_restored
        assert not second.was_restored
    for url in (database_url, other_database):
        with closing(PostgresStore(url)) as store:
            assert not store.was_restored


def test_tables_restored_under_a_running_process_take_no_more_writes(database_url: str, tmp_path: Path) -> None:
    with closing(PostgresStore(database_url)) as store:
        fill(store, make_trial(store), record(1))
        with psycopg.connect(database_url) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
            )
        _move(database_url, database_url, tmp_path)
        for _ in range(2):
            with pytest.raises(StoreError, match="was replaced or restored while it was in use"):
                fill(store, 1, record(2))
    with closing(PostgresStore(database_url)) as store:
        assert store.was_restored
