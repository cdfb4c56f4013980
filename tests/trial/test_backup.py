"""A trial that was backed up and restored is the same, verifies, replays and goes on, by a fresh secret."""

from __future__ import annotations

import subprocess
import uuid
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from adhere.errors import UnknownError
from adhere.record_sources import records_of
from adhere.store import Head, Store, open_store
from adhere.store.sqlite import SqliteStore
from adhere.trial.domain.commands import Recommend, RecommendationResponse, Report
from adhere.trial.domain.events import AnyEvent, Created, EpochBegun, Recommended, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from adhere.trial.writing.processor import CommandProcessor
from store.postgres_server import program

from .live import Live, number_of, send


def played(store: Store) -> str:
    """Play for a while; returns the head."""
    live = Live(store=store)
    for n in range(8):
        live.report(live.recommend(f"s{n}").recommendation_id, took_other="tea" if n % 2 else None, reward=1.0)
    with store.reading() as view:
        return view.head(number_of(view)).hash.hex()


def recommend(store: Store, *subjects: str) -> list[RecommendationResponse]:
    """Recommendations of a service that has just started."""
    asked = [Recommend(trial="t", request_id=subject, site="Leeds", subject=subject) for subject in subjects]
    return [made for made in CommandProcessor(store).execute(asked) if isinstance(made, RecommendationResponse)]


def events_of(store: Store) -> list[AnyEvent]:
    with store.reading() as view:
        return [decode(record.body) for record in walk(view, number_of(view))]


def check_goes_on(store: Store, head: str) -> None:
    (given,) = recommend(store, "new")
    created, *_, begun, made = events_of(store)
    assert isinstance(created, Created)
    assert isinstance(begun, EpochBegun)
    assert isinstance(made, Recommended)
    assert begun.reason == "the store was copied or restored: records after the copy may have been lost"
    assert (made.recommendation_index, made.recommendation_id, made.epoch) == (
        8,
        given.recommendation_id,
        begun.commitment,
    )
    assert begun.commitment != created.commitment
    with store.reading() as view:
        fresh = view.secret(begun.commitment)
        assert fresh is not None
        assert fresh != view.secret(created.commitment)
        found = verify(view, number_of(view), head)
        assert (found.fault, found.secret) == (None, "kept")
        again = replay(view, number_of(view))
        assert (again.difference, again.n_derived) == (None, 9)
        assert len(list(view.subjects(number_of(view)))) == 9
    store.close()
    again_opened = open_store(store.location or "")  # which was not restored
    recommend(again_opened, "newer")
    assert sum(isinstance(event, EpochBegun) for event in events_of(again_opened)) == 1
    again_opened.close()


def test_a_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    store = SqliteStore(path)
    head = played(store)
    store.backup(tmp_path / "copy.db")
    (lost,) = recommend(store, "late")
    store.close()
    for left in tmp_path.glob("trials.db*"):
        left.unlink()
    (tmp_path / "copy.db").rename(path)
    check_goes_on(open_store(path), head)
    late = Report(trial="t", request_id="r", site="Leeds", recommendation_id=lost.recommendation_id, reward=1.0)
    with (
        closing(open_store(path)) as restored,
        pytest.raises(UnknownError, match="If it was given out before a backup was restored, do not send it again"),
    ):
        send(CommandProcessor(restored), late)


def test_a_postgresql_database(database_url: str, tmp_path: Path) -> None:
    store = open_store(database_url)
    head = played(store)
    store.close()
    records = records_of(database_url)
    assert (len(records), records.reward.tolist()) == (8, [1.0] * 8)
    assert records.source == "trial t in PostgreSQL"  # and no password
    server, _, options = database_url.partition("&application_name=")
    schema, restored, dump = options.partition("&")[0], f"restored_{uuid.uuid4().hex}", str(tmp_path / "dump")
    subprocess.run(
        [program("pg_dump"), "--format=custom", f"--schema={schema}", f"--file={dump}", server], check=True
    )
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {restored}")
    elsewhere = database_url.replace("/postgres?", f"/{restored}?")
    target = server.replace("/postgres?", f"/{restored}?")
    subprocess.run([program("pg_restore"), f"--dbname={target}", dump], check=True)
    check_goes_on(open_store(elsewhere), head)


def replaced_by_older(store: Store, n_records: int, head: Head) -> None:
    """Let a store be as it was at a record, under a service that goes on."""
    with store.writing() as writing:
        trial = number_of(writing)
        writing.run("DELETE FROM records WHERE trial = ? AND position > ?", (trial, n_records))
        writing.run("DELETE FROM subjects WHERE trial = ? AND latest >= ?", (trial, n_records - 1))
        writing.append(trial, [], head)


@pytest.mark.parametrize("reports_between", [0, 1, 9])
def test_a_service_whose_database_was_replaced_by_an_older_one_draws_by_a_fresh_secret(reports_between: int) -> None:
    """Also where others have added as many records again as were lost, before the next recommendation."""
    live = Live("uniform")
    for number in range(3):
        live.recommend(f"s{number}")
    with live.store.reading() as view:
        head = view.head(number_of(view))
    for number in range(3, 40):
        live.recommend(f"s{number}")
    lost = [event.chosen for event in live.events()[4:] if isinstance(event, Recommended)]
    replaced_by_older(live.store, 4, head)
    for number in range(reports_between):
        live.correct(0, retract=("reward",)) if number % 2 else live.report(0, reward=1.0)
    for number in range(3, 40):
        live.recommend(f"s{number}")
    begun = [event for event in live.events() if isinstance(event, EpochBegun)]
    assert [event.reason for event in begun] == ["the database is older than what this service had written to it"]
    made = [event for event in live.events() if isinstance(event, Recommended)]
    assert [event.epoch for event in made] == [""] * 3 + [begun[0].commitment] * 37
    assert [event.chosen for event in made[3:]] != lost  # by chance they agree once in 2 to the 37
    with live.store.reading() as view:
        assert verify(view, number_of(view)).fault is None
        assert replay(view, number_of(view)).difference is None
