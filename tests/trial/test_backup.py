"""A trial that was backed up and restored is the same, verifies, replays and goes on."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

import psycopg

from adhere.record_sources import records_of
from adhere.store import Store, open_store
from adhere.store.sqlite import SqliteStore
from adhere.trial.commands import Recommend, RecommendationResponse
from adhere.trial.log.chain import verify
from adhere.trial.log.replay import replay
from adhere.trial.processor import CommandProcessor
from store.postgres_server import program

from .live import Live, number_of, send


def played(store: Store) -> str:
    """Play for a while; returns the head."""
    live = Live(store=store)
    for n in range(8):
        live.report(live.recommend(f"s{n}").recommendation_id, took_other="tea" if n % 2 else None, reward=1.0)
    with store.reading() as view:
        return view.head(number_of(view)).hash.hex()


def check_goes_on(store: Store, head: str) -> None:
    made = send(
        CommandProcessor(store), Recommend(trial="t", request_id="after the restore", site="Leeds", subject="new")
    )
    assert isinstance(made, RecommendationResponse)
    assert made.recommendation_id == 8
    with store.reading() as view:
        assert verify(view, number_of(view), head).fault is None
        assert replay(view, number_of(view)).difference is None
        assert len(list(view.subjects(number_of(view)))) == 9
    store.close()


def test_a_sqlite_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "trials.db")
    head = played(store)
    store.backup(tmp_path / "copy.db")
    played_on = CommandProcessor(store)
    send(played_on, Recommend(trial="t", request_id="lost with the disk", site="Leeds", subject="late"))
    store.close()
    for left in tmp_path.glob("trials.db*"):
        left.unlink()
    (tmp_path / "copy.db").rename(tmp_path / "trials.db")
    check_goes_on(open_store(tmp_path / "trials.db"), head)


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
