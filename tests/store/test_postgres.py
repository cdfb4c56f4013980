"""What is particular to PostgreSQL."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from adhere.store import StoreError, open_store
from adhere.store.postgres import PostgresStore

from .places import append, fill, head_at, make_trial, record
from .postgres_server import PostgresServer
from .writers import CONTEXT, add_one_by_one, add_until_it_fails, make_the_trial, start


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(database_url)) as store:
        yield store


def test_the_server_of_the_tests_is_a_careful_one(database_url: str) -> None:
    with psycopg.connect(database_url) as server:
        assert server.execute("SHOW fsync").fetchone() == ("on",)


@pytest.mark.slow
def test_the_role_and_database_of_the_docs_are_enough(database_url: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "install-and-run-the-service.md").read_text()
    found = re.search(r'-c "(CREATE ROLE [^"]*)" *-c "(CREATE DATABASE [^"]*)"', text)
    assert found is not None
    statements = [statement.replace("'PASSWORD'", "'secret'") for statement in found.groups()]
    server = database_url.partition("&")[0]
    with psycopg.connect(server, autocommit=True) as connection:
        try:
            for statement in statements:
                connection.execute(statement)
            with closing(open_store(server.replace("postgres@/postgres", "adhere:secret@/adhere"))) as store:
                make_trial(store)
        finally:
            connection.execute("DROP DATABASE IF EXISTS adhere")
            connection.execute("DROP ROLE IF EXISTS adhere")


@pytest.mark.slow
def test_four_processes_on_one_trial_lose_nothing(store: PostgresStore, database_url: str) -> None:
    trial = make_trial(store)
    processes = [start(add_one_by_one, database_url, trial, name, 25) for name in "abcd"]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    with store.reading() as view:
        records = view.records(trial)
        assert [one.position for one in records] == list(range(1, 101))
        assert {one.request_id for one in records} == {f"{name}-{number}" for name in "abcd" for number in range(25)}
        assert view.head(trial) == head_at(100)


def test_four_processes_start_at_once_on_an_empty_database(database_url: str, tmp_path: Path) -> None:
    told, all_ready = tmp_path / "told", CONTEXT.Barrier(4)
    for process in [start(make_the_trial, database_url, "aspirin", all_ready, told) for _ in range(4)]:
        process.join()
    answers = sorted(told.read_text().splitlines())
    assert answers[0].isdigit()
    assert answers[1:] == ["name: got 'aspirin', expected a name that no other trial has"] * 3


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_crash(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.touch()
    server = PostgresServer()
    try:
        server.prepare()
        server.start()
        with closing(PostgresStore(server.url)) as store:
            trial = make_trial(store)
            processes = [start(add_until_it_fails, server.url, trial, name, told) for name in "abcd"]
            while len(told.read_text().splitlines()) < 200:
                assert any(process.is_alive() for process in processes)
                time.sleep(0.01)
            server.crash()
            for process in processes:
                process.join()
            with pytest.raises(StoreError):
                store.check()
            server.start()
            with store.reading() as view:  # the same store, on a new connection
                kept = view.records(trial, limit=100_000)
                assert view.head(trial) == head_at(len(kept))
        server.stop()
    finally:
        server.remove()
    assert [one.position for one in kept] == list(range(1, len(kept) + 1))
    assert set(told.read_text().splitlines()) <= {one.request_id for one in kept}


def test_a_view_shows_only_what_is_on_the_disk(store: PostgresStore, database_url: str) -> None:
    trial = make_trial(store)
    with psycopg.connect(database_url, autocommit=True) as other:
        for position in range(1, 6):
            # A commit that nobody waits for, as between the two transactions of another process's `writing`.
            with other.transaction():
                other.execute("SET LOCAL synchronous_commit = off")
                other.execute("UPDATE trials SET position = %s", (position,))
            committed = other.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            with store.reading() as view:
                assert view.head(trial).position == position
                assert other.execute("SELECT pg_current_wal_flush_lsn() >= %s", committed).fetchone() == (True,)


def test_a_careless_server_is_made_careful(database_url: str) -> None:
    careless = database_url.replace("options=", "options=-csynchronous_commit%3Doff%20")
    with psycopg.connect(careless, autocommit=True) as server, closing(PostgresStore(careless)) as store:
        assert server.execute("SHOW synchronous_commit").fetchone() == ("off",)
        trial = make_trial(store)
        for position in range(1, 6):
            with store.writing() as transaction:
                append(transaction, trial, record(position))
                transaction.head(trial)
                written = server.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            assert server.execute("SELECT pg_current_wal_flush_lsn() > %s", written).fetchone() == (True,)


def test_a_broken_connection_is_replaced(store: PostgresStore, database_url: str) -> None:
    trial = make_trial(store)
    store.check()
    _end_other_sessions(database_url)
    fill(store, trial, record(1))
    store.check()


def test_a_connection_that_breaks_within_a_transaction(store: PostgresStore, database_url: str) -> None:
    trial = make_trial(store)

    def break_it() -> None:
        with store.writing() as transaction:
            transaction.lock_and_fetch(trial, [], [], [])()[0]
            append(transaction, trial, record(1))
            _end_other_sessions(database_url)

    with pytest.raises(StoreError, match="the PostgreSQL database 'postgres' at"):
        break_it()
    with store.reading() as view:
        assert view.records(trial) == []
    fill(store, trial, record(1))


def test_a_failure_that_is_passed_over_is_not_taken_for_success(store: PostgresStore) -> None:
    trial = make_trial(store)

    def pass_over() -> None:
        with store.writing() as transaction:
            append(transaction, trial, record(1))
            with suppress(psycopg.Error):
                transaction.save_note(trial + 1, 1, b"", "")
                transaction.head(trial)

    with pytest.raises(StoreError):
        pass_over()
    with store.reading() as view:
        assert view.records(trial) == []


def test_nothing_of_a_row_is_in_an_error(store: PostgresStore) -> None:
    trial = make_trial(store)
    with pytest.raises(StoreError) as caught:
        fill(store, trial, record(1, "anna-1"), record(2, "anna-1"))
    assert "records_by_request" in str(caught.value)
    assert "anna" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@127.0.0.1:1/trials",
        "postgresql://127.0.0.1:1/trials?user=me&password=s3cret",
        "postgresql://me:s3cret@/trials?host=/nowhere",
        "postgresql://me:x/s3cret@host/trials",
        "postgresql://me:x@s3cret@host/trials",
        "postgresql://me:s3cret%@host/trials",
        "postgresql://me:s3cret@host:port/trials",
        "postgresql://me:s3cret@host/trials?no=option",
    ],
)
def test_no_server_and_no_address(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert "s3cret" not in str(caught.value)
    assert "PostgreSQL" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_with_the_letters_of_the_password_are_not_garbled(database_url: str) -> None:
    url = database_url.replace("postgres@/postgres?", "postgres:a@/nothing?")
    with pytest.raises(
        StoreError, match=r"the PostgreSQL database 'nothing' at .*: .*database \"nothing\" does not exist"
    ):
        open_store(url)


def test_a_database_that_is_not_there(database_url: str) -> None:
    with pytest.raises(StoreError, match=r"the PostgreSQL database 'nothing' at .*does not exist"):
        open_store(database_url.replace("/postgres?", "/nothing?"))


def _end_other_sessions(url: str) -> None:
    with psycopg.connect(url) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
        )
