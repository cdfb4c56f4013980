"""What every store does when several use it, at once or one after the other."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from adhere.store import Store, StoreError, schema
from adhere.store.records import Subject, Token
from adhere.store.schema import FIRST_FORMAT, FORMAT

from .places import Place, append, fetch, fill, head_at, make_trial, record


def test_a_view_stays_as_it_is(place: Place, store: Store) -> None:
    trial = make_trial(store)
    fill(store, trial, record(1))
    writer = threading.Thread(target=fill, args=(store, trial, record(2)))
    with store.reading() as view:
        assert view.head(trial) == head_at(1)
        writer.start()
        if place.where is not None:  # in memory, the writer waits for the end of the view
            writer.join()
        assert (view.head(trial), view.records(trial)) == (head_at(1), [record(1)])
    writer.join()
    with store.reading() as view:
        assert (view.head(trial), view.records(trial)) == (head_at(2), [record(1), record(2)])


def test_what_is_not_yet_committed_is_not_seen(lasting: Place) -> None:
    store = lasting.open()
    trial = make_trial(store)
    with store.writing() as transaction:
        append(transaction, trial, record(1))
        assert transaction.records(trial) == [record(1)]
        seen: list[object] = []
        reader = threading.Thread(target=_look, args=(store, trial, seen))
        reader.start()
        reader.join(30.0)  # it does not wait for the writer
        assert seen == [[]]
    reader.join()


def _look(store: Store, trial: int, seen: list[object]) -> None:
    with store.reading() as view:
        seen.append(view.records(trial))


def test_threads_take_turns(store: Store) -> None:
    trial = make_trial(store)

    def add(name: str) -> None:
        for number in range(10):
            with store.writing() as transaction:
                position = transaction.lock_and_fetch(trial, [], [], [])()[0].position + 1
                append(transaction, trial, record(position, f"{name}-{number}"))
            with store.reading() as view:
                assert view.head(trial).position == len(view.records(trial))

    threads = [threading.Thread(target=add, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as view:
        assert [one.position for one in view.records(trial)] == list(range(1, 31))
        assert len({one.request_id for one in view.records(trial)}) == 30


def test_opened_again_everything_is_there(lasting: Place) -> None:
    store = lasting.open()
    trial = make_trial(store)
    with store.writing() as transaction:
        append(transaction, trial, record(1, "r", 1, "k"))
        transaction.add_subjects(trial, [Subject("anna", "k", b"s", 1)])
        transaction.save_note(trial, 1, b"s", "text")
        transaction.save_states(trial, [(1, b"state")])
        token = transaction.add_token(Token(0, b"d", "reader", None, None, "", "now"))
    store.close()
    store = lasting.open()
    store.check()
    with store.writing() as transaction:
        assert transaction.state_before(trial, 2) == (1, b"state")
        assert fetch(transaction, trial, ["r"], [], ["anna"]).subjects == {"anna": Subject("anna", "k", b"s", 1)}
    for again in (store, lasting.open(read_only=True)):
        with again.reading() as view:
            assert view.trials() == {"aspirin": trial}
            assert (view.head(trial), view.records(trial)) == (head_at(1), [record(1, "r", 1, "k")])
            assert (view.notes(trial), view.tokens()) == ({1: (b"s", "text")}, [token])


def test_who_only_reads_does_not_write(lasting: Place) -> None:
    lasting.open()
    reader = lasting.open(read_only=True)
    with pytest.raises(StoreError):
        make_trial(reader)
    reader.check()


@pytest.mark.parametrize("read_only", [False, True])
def test_tables_of_a_newer_version_are_refused(lasting: Place, read_only: bool) -> None:
    lasting.open().close()
    lasting.run("INSERT INTO adhere_schema (version) VALUES (99)")
    with pytest.raises(
        StoreError, match=rf"was written by a newer adhere \(tables of version 99; this one knows {FORMAT}\)"
    ):
        lasting.open(read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("version", range(1, FIRST_FORMAT))
def test_tables_that_were_never_released_are_refused_in_one_sentence(
    lasting: Place, version: int, read_only: bool
) -> None:
    lasting.open().close()
    lasting.run(f"UPDATE adhere_schema SET version = {version}")
    with pytest.raises(
        StoreError,
        match=rf"has tables of version {version}, of an adhere that was never released; this one reads version",
    ) as refused:
        lasting.open(read_only=read_only)
    assert "\n" not in str(refused.value)


def test_tables_of_an_older_version_are_brought_up_to_date_and_not_only_read(
    lasting: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lasting.open().close()
    step = "CREATE TABLE letters (id {number} PRIMARY KEY)"  # of a version to come
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, (step,)))
    monkeypatch.setattr(schema, "FORMAT", FORMAT + 1)
    with pytest.raises(StoreError, match=rf"was written by an older adhere \(tables of version {FORMAT}; this one"):
        lasting.open(read_only=True)
    lasting.open().close()
    with lasting.open(read_only=True).reading() as view:
        assert "letters" in view.schema()


def test_a_closed_store_says_so(place: Place) -> None:
    store = place.open()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        make_trial(store)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("damage", "lacking"),
    [
        (["ALTER TABLE tokens DROP COLUMN label"], "tokens has no column label"),
        (["DROP TABLE notes"], "there is no table or index notes"),
        (["DROP INDEX records_by_request"], "there is no table or index records_by_request"),
        (
            ["ALTER TABLE notes RENAME TO other", "CREATE TABLE notes AS SELECT * FROM other"],
            r"the primary key of notes is not \(position, trial\)",
        ),
    ],
)
def test_tables_that_are_not_those_of_their_version_are_refused(
    lasting: Place, damage: list[str], lacking: str, read_only: bool
) -> None:
    lasting.open().close()
    for statement in damage:
        lasting.run(statement)
    with pytest.raises(StoreError, match=f"claims to have tables of version {FORMAT}, but {lacking}"):
        lasting.open(read_only=read_only)


def test_a_file_of_the_first_version_is_not_changed(lasting: Place) -> None:
    lasting.run("CREATE TABLE adhere_schema (version INTEGER NOT NULL)")
    lasting.run("INSERT INTO adhere_schema VALUES (1)")
    before = lasting.where.read_bytes() if isinstance(lasting.where, Path) else b""
    with pytest.raises(StoreError, match="has tables of version 1, of an adhere that was never released"):
        lasting.open()
    assert (lasting.where.read_bytes() if isinstance(lasting.where, Path) else b"") == before


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("column", ["version TEXT", "other TEXT"])
def test_a_version_that_is_no_number_is_refused(lasting: Place, column: str, read_only: bool) -> None:
    lasting.run(f"CREATE TABLE adhere_schema ({column})")
    lasting.run("INSERT INTO adhere_schema VALUES ('abc')")
    with pytest.raises(
        StoreError, match=r"is a database of something else \(its table adhere_schema has no version\)"
    ):
        lasting.open(read_only=read_only)


def test_a_table_of_something_else_is_left_alone(lasting: Place) -> None:
    lasting.run("CREATE TABLE trials (court INTEGER)")
    with pytest.raises(StoreError, match=r"is a database of something else \(it has a table trials\)"):
        lasting.open()
    lasting.run("INSERT INTO trials (court) VALUES (7)")


def test_a_torn_log_is_refused(lasting: Place) -> None:
    store = lasting.open()
    fill(store, make_trial(store, "headache"), record(1), record(2))
    store.close()
    lasting.run("DELETE FROM records WHERE position = 2")
    with pytest.raises(StoreError, match="the log of trial 'headache' does not end at its head") as refused:
        lasting.open()
    advice = "pg_restore" if isinstance(lasting.where, str) else "adhere trial restore"
    assert str(refused.value).endswith(f"Restore a backup: {advice}.")
    assert ("-wal" in str(refused.value)) == isinstance(lasting.where, Path)
    lasting.open(read_only=True)  # for 'adhere trial verify', which says more
