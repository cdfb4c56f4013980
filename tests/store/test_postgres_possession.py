"""Tables in PostgreSQL that were restored from a dump are told from those that were left there."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from adhere.design.make_design import make_design
from adhere.store import OutcomeUnknownError, StoreError
from adhere.store.postgres import PostgresStore
from adhere.trial.domain.commands import Recommend
from adhere.trial.domain.events import EpochBegun, Recommended, decode
from adhere.trial.writing.processor import CommandProcessor

from .places import append, fill, make_trial, record
from .postgres_server import PostgresServer, program


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


@pytest.mark.slow
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


def test_tables_that_were_emptied_and_filled_from_a_dump_were_restored(database_url: str, tmp_path: Path) -> None:
    """`pg_restore --data-only` leaves the tables what they were; only their files are new."""
    with closing(PostgresStore(database_url)) as store:
        fill(store, make_trial(store), record(1))
    dump, source = tmp_path / "dump", database_url.partition("&")[0]
    subprocess.run([program("pg_dump"), "-Fc", "-n", _schema(database_url), "-f", dump, "-d", source], check=True)
    with psycopg.connect(database_url, autocommit=True) as server:
        tables = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
        server.execute(f"TRUNCATE {', '.join(name for (name,) in tables)}")
    subprocess.run([program("pg_restore"), "--data-only", "--disable-triggers", "-d", source, dump], check=True)
    with closing(PostgresStore(database_url)) as store:
        assert store.was_restored


@pytest.mark.slow
def test_a_cluster_that_was_set_back_under_running_processes_begins_an_epoch() -> None:
    """Its disk is put back to an earlier moment. A process that wrote nothing of what is lost must notice it too."""
    server = PostgresServer()
    try:
        server.prepare()
        server.start()
        with closing(PostgresStore(server.url)) as writer, closing(PostgresStore(server.url)) as other:
            CommandProcessor(writer).create(make_design("t", "uniform", ["walk", "aspirin"]))
            busy, idle = CommandProcessor(writer), CommandProcessor(other)
            recommend(busy, "a")
            recommend(idle, "b")
            server.stop()
            shutil.copytree(server.folder / "data", server.folder / "copy")
            server.start()
            for number in range(8):
                recommend(busy, f"lost-{number}")
            other.check()  # as the service does twice a second
            server.crash()
            shutil.rmtree(server.folder / "data")
            (server.folder / "copy").rename(server.folder / "data")
            if os.geteuid() == 0:
                for path in (server.folder / "data", *(server.folder / "data").rglob("*")):
                    shutil.chown(path, "nobody")
            server.start()
            with pytest.raises(StoreError, match="is older than what was written to it"):
                recommend(idle, "c")
            recommend(idle, "c")
            with other.reading() as view:
                events = [decode(one.body) for one in view.records(1)]
        assert [type(event) for event in events[-3:]] == [Recommended, EpochBegun, Recommended]
    finally:
        if server.is_running:
            server.stop()
        server.remove()


def recommend(processor: CommandProcessor, subject: str) -> None:
    """Recommend once; what the connection's loss was found by is sent again, as clients do."""
    command = Recommend(trial="t", request_id=f"r-{subject}", subject=subject)
    try:
        processor.execute([command])
    except OutcomeUnknownError:
        processor.execute([command])
