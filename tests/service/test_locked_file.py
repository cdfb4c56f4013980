"""A SQLite file that another program has locked: writers wait for it, and nobody else does."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adhere.store import StoreBusyError, open_store, sqlite
from service.serving import Service, in_file, wait_until


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that a shell holds after BEGIN IMMEDIATE."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def served(service: Service, path: str) -> int:
    return service.send("GET", path, role=None).status


@pytest.mark.slow
def test_health_is_told_at_once_and_readiness_soon_and_each_request_is_executed_once(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with in_file(path) as service, ThreadPoolExecutor(8) as pool:
        trial, site = service.new_trial(policy="uniform"), service.token("site")
        assert site
        service.client().recommend(trial, "S-first")
        wait_until(lambda: served(service, "/readyz") == 200)
        with locked(path):
            asked = [
                pool.submit(service.send, "POST", f"/trials/{trial}/recommendations", {"subject": f"S-{number}"})
                for number in range(6)
            ]
            wait_until(lambda: served(service, "/readyz") == 503)
            assert served(service, "/healthz") == 200
            assert service.send("GET", f"/trials/{trial}").status == 200
            assert not any(one.done() for one in asked), "the event loop has waited until they were given up"
        assert [one.result().status for one in asked] == [201] * 6
        wait_until(lambda: served(service, "/readyz") == 200)
        given = [one.result().json["recommendation_id"] for one in asked]
        assert sorted(service.ids(trial)[1:]) == sorted(given)


def test_a_lock_that_is_not_released_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trials.db"
    with in_file(path) as service:
        trial = service.new_trial(policy="uniform")
        service.client().recommend(trial, "S-1")
        monkeypatch.setattr(sqlite, "_PATIENCE", 0.1)
        with locked(path):
            reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": "S-2"})
            assert (reply.status, reply.headers["retry-after"]) == (503, "1")
            assert "nothing was written" in reply.json["detail"]
            assert served(service, "/readyz") == 503
        assert service.send("POST", f"/trials/{trial}/recommendations", {"subject": "S-2"}).status == 201


def test_whoever_does_not_wait_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with closing(open_store(path)) as store:
        with locked(path), pytest.raises(StoreBusyError), store.writing(waits=False):
            pytest.fail("the transaction was begun")
        inside, may_end = threading.Event(), threading.Event()

        def write() -> None:
            with store.writing():
                inside.set()
                may_end.wait(10)

        other = threading.Thread(target=write)
        other.start()
        inside.wait(10)
        with pytest.raises(StoreBusyError), store.writing(waits=False):
            pytest.fail("two transactions at once")
        may_end.set()
        other.join()
        with store.writing(waits=False) as writing:
            assert writing.trials() == {}
