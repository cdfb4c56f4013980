"""A database that freezes: requests end, readiness says so, nothing is claimed that is not known, all recovers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import psycopg
import pytest

from adhere.store import StoreError, StoreUnavailableError, open_store, postgres
from adhere.store.postgres import MIGRATING, PostgresStore
from adhere.trial.log.verify import verify
from service.hammering import Hammer, n_acknowledged
from service.serving import Reply, Service, in_thread, wait_until
from store.postgres_proxy import PostgresProxy
from store.postgres_server import PostgresServer, fresh_database, running_server

DEADLINE = 1.5
SLACK = 4.0  # for a machine that is busy with other tests


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@contextmanager
def frozen(server: PostgresServer) -> Iterator[float]:
    server.freeze()
    try:
        yield time.monotonic()
    finally:
        server.thaw()


@pytest.mark.slow
def test_a_frozen_database(server: PostgresServer) -> None:
    url = fresh_database(server.url)
    with in_thread(PostgresStore(url, deadline=DEADLINE)) as service:
        service.client().create_trial("t", "uniform", ("walk", "aspirin"))
        site = service.token("site")
        hammers = [Hammer(f"h{number}", site) for number in range(4)]
        stop = threading.Event()
        threads = [threading.Thread(target=hammer.run, args=(service.port, stop)) for hammer in hammers]
        for thread in threads:
            thread.start()
        wait_until(lambda: n_acknowledged(hammers) >= 40)
        with frozen(server) as since, ThreadPoolExecutor(24) as pool:
            asked = [pool.submit(_timed_recommend, service, number) for number in range(12)]
            read = [pool.submit(_timed_read, service) for _ in range(12)]
            wait_until(lambda: service.send("GET", "/readyz", role=None).status == 503)
            assert time.monotonic() - since < 3.0
            replies = [one.result() for one in asked + read]
            for thread in threads:  # each ends at its first 503
                thread.join()
            assert {reply.status for reply, _ in replies} == {503}
            assert max(seconds for _, seconds in replies) < DEADLINE + SLACK
            begin = time.monotonic()  # now it is known: nobody waits any more
            late = [service.send("POST", "/trials/t/recommendations", {"subject": f"late-{n}"}) for n in range(8)]
            assert {(reply.status, _claim(reply)) for reply in late} == {(503, "nothing was written")}
            assert time.monotonic() - begin < DEADLINE
        wait_until(lambda: service.send("GET", "/trials").status == 200, 5.0)
        again = [_timed_recommend(service, number)[0] for number in range(12)]
        assert {reply.status for reply in again} == {201}
        assert service.send("GET", "/readyz", role=None).status == 200
        stop.set()
        for hammer in hammers:  # sends what was not acknowledged once more, under the same key
            assert {status for status, _ in hammer.refused} == {503}
            hammer.run(service.port, stop)
            assert hammer.unanswered is None
    keys = [key for hammer in hammers for key in hammer.acknowledged]
    with closing(open_store(url, read_only=True)) as store, store.reading() as view:
        assert verify(view, 1).fault is None
        found = [record.request_id for record in view.records(1, limit=10**5) if record.request_id]
    assert len(found) == len(set(found))
    assert set(found) == {f"A/{key}" for key in keys} | {f"A/key-{number}" for number in range(12)}


@pytest.mark.slow
def test_a_freeze_is_waited_for_once(server: PostgresServer) -> None:
    deadline = 1.5
    with closing(PostgresStore(fresh_database(server.url), deadline=deadline)) as store:
        with store.reading():
            pass  # leaves a connection for the next one
        begin = time.monotonic()
        with frozen(server), pytest.raises(StoreError), store.writing(), store.reading():
            pass  # the outer connection is still good, as far as it knows
        assert time.monotonic() - begin < 1.8 * deadline
        store.check()
        with store.reading() as view:
            assert view.trials() == {}


@pytest.mark.slow
def test_what_is_slow_but_not_silent_is_waited_for(database_url: str) -> None:
    with closing(PostgresStore(database_url, deadline=0.5)) as store, store.reading() as view:
        rows = view.run("SELECT repeat('x', 10000), pg_sleep(0.15) FROM generate_series(1, 5)").fetchall()
        assert len(rows) == 5
    with psycopg.connect(database_url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
        threading.Timer(0.8, other.rollback).start()
        PostgresStore(database_url, deadline=0.5).close()


def test_a_process_that_never_ends_its_migration_is_not_waited_for_without_end(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_SECONDS_TO_MIGRATE", 0.3)
    with psycopg.connect(database_url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
        with pytest.raises(StoreUnavailableError, match="another process is migrating its tables"):
            PostgresStore(database_url)


def test_a_server_that_freezes_while_a_store_is_opened(database_url: str) -> None:
    """The tables are up to date, so that nothing may take longer than the deadline."""
    PostgresStore(database_url).close()
    with psycopg.connect(database_url) as other, closing(PostgresProxy(database_url)) as proxy:
        other.execute("LOCK TABLE adhere_schema")  # the first statement waits, for longer than the server lets it
        with pytest.raises(StoreUnavailableError):
            PostgresStore(proxy.url, deadline=1.0)


def _timed_recommend(service: Service, number: int) -> tuple[Reply, float]:
    begin = time.monotonic()
    path, body = "/trials/t/recommendations", {"subject": f"S-{number}"}
    reply = service.send("POST", path, body, role="site", key=f"key-{number}")
    return reply, time.monotonic() - begin


def _timed_read(service: Service) -> tuple[Reply, float]:
    begin = time.monotonic()
    return service.send("GET", "/trials/t"), time.monotonic() - begin


def _claim(reply: Reply) -> str:
    return str(reply.json["detail"]).partition(";")[0]


def test_an_unknown_outcome_is_said_to_be_unknown(database_url: str) -> None:
    with closing(PostgresProxy(database_url)) as proxy, in_thread(PostgresStore(proxy.url)) as service:
        service.client().create_trial("t", "uniform", ("walk", "aspirin"))
        before = len(service.client().tokens())
        for fault, path, body, advice in (
            ("lose the answer", "/trials/t/recommendations", {"subject": "S-1"}, "with the same Idempotency-Key"),
            ("lose the answer", "/tokens", {"role": "admin", "label": "another"}, "GET /tokens"),
            ("lose the commit", "/trials", {"name": "u", "policy": "uniform", "arms": ["a", "b"]}, "changes nothing"),
        ):
            proxy.hang_up()
            proxy.fault = fault  # type: ignore[assignment]
            reply = service.send("POST", path, body, key="key")
            assert (reply.status, _claim(reply)) == (503, "it is not known whether the request was written")
            assert advice in reply.json["detail"]
            if path != "/tokens":
                assert service.send("POST", path, body, key="key").status == 201
        assert len(service.client().tokens()) == before + 1
        assert service.client().trial("t").recommendations == 1
