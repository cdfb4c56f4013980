"""What the machine refuses is a 503 that is logged, whatever asked for it."""

from __future__ import annotations

import errno
import logging
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adhere.access.tokens import Tokens
from adhere.errors import UnavailableError
from adhere.service import app
from adhere.service.app import _problem
from adhere.service.group_commit import GroupCommit
from adhere.service.logs import Seldom
from adhere.service.threads import Threads
from adhere.store import StoreError, open_store, postgres
from service.serving import in_file


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EIO, errno.EAGAIN])
def test_an_error_of_the_system_is_no_internal_one(number: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "adhere.service"):
        problem = _problem(OSError(number, "refused", "/secret/place"), None)
    assert problem.status == 503
    assert problem.headers["retry-after"] == "1"
    assert b"secret" not in problem.encoded()
    assert caplog.records[0].exc_info is not None


def test_what_the_database_refuses_is_logged_without_whose_data_it_was(caplog: pytest.LogCaptureFixture) -> None:
    error = StoreError("the database: no such function\nDETAIL: Key (pseudonym)=(A/S-1)")
    with caplog.at_level(logging.WARNING, "adhere.service"):
        problem = _problem(error, None)
    assert problem.status == 503
    assert caplog.messages == ["a request was answered 503: the database: no such function"]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("libscipy.so: failed to map segment from shared object"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_too_little_memory_is_no_internal_error(
    error: Exception, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_shortages", Seldom(60.0))
    with caplog.at_level(logging.WARNING, "adhere.service"):
        problems = [_problem(error, None) for _ in range(3)]
    assert {(problem.status, problem.headers["retry-after"]) for problem in problems} == {(503, "1")}
    (said,) = caplog.messages  # not one for each request
    assert said.startswith("a request was answered 503: the machine is short of something: ")
    assert type(error).__name__ in said
    assert str(error) in said


def test_an_answer_that_cannot_be_encoded_is_a_503(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_memory(_: object) -> bytes:
        raise MemoryError

    with in_file(tmp_path / "trials.db") as service:
        monkeypatch.setattr(app, "encode", no_memory)
        monkeypatch.setattr(app, "_shortages", Seldom(60.0))
        with caplog.at_level(logging.WARNING, "adhere.service"):
            reply = service.send("GET", "/trials")
        assert [said for said in caplog.messages if "MemoryError" in said]
        assert (reply.status, reply.headers["retry-after"]) == (503, "1")
        assert reply.json["detail"].startswith("the machine is out of resources for now")
        monkeypatch.undo()
        assert service.send("GET", "/trials").status == 200


def test_threads_that_cannot_be_started_leave_the_work_to_those_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(4, "test")
    assert threads.submit(int).result(10) == 0
    monkeypatch.setattr(threading.Thread, "start", _cannot_start)
    assert [one.result(10) for one in [threads.submit(pow, 2, n) for n in range(20)]] == [2**n for n in range(20)]
    with pytest.raises(UnavailableError):
        Threads(1, "another").submit(int)
    monkeypatch.undo()
    barrier = threading.Barrier(4)  # which four threads must reach at the same time
    assert {one.result(10) for one in [threads.submit(barrier.wait) for _ in range(4)]} == {0, 1, 2, 3}
    failed = threads.submit(int, "x")
    assert isinstance(failed.exception(10), ValueError)
    threads.shutdown()
    with pytest.raises(RuntimeError):
        threads.submit(int)


def test_what_waits_is_cancelled_at_the_end() -> None:
    threads, begun, go = Threads(1, "test"), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(10)

    running, waiting = threads.submit(work), threads.submit(int)
    begun.wait(10)
    threads.shutdown(wait=False, cancel_futures=True)
    go.set()
    assert (running.result(10), waiting.cancelled()) == (None, True)


def _cannot_start(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_simulation_whose_thread_cannot_be_started_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = {"name": "x", "policy": "uniform", "arms": ["a", "b"], "n_patients": 20}
    asked = {"design": design, "scenarios": {}, "n_trials": 10}
    start = threading.Thread.start

    def start_others(thread: threading.Thread) -> None:
        (_cannot_start if thread.name.startswith("simulation") else start)(thread)

    with in_file(tmp_path / "trials.db") as service:
        monkeypatch.setattr(threading.Thread, "start", start_others)
        assert service.send("POST", "/simulations", asked).status == 503
        monkeypatch.undo()
        made = service.send("POST", "/simulations", asked)
        assert made.status == 201, made.body
        assert service.send("DELETE", f"/simulations/{made.json['id']}").status == 204


@pytest.mark.parametrize("name", ["_work", "_commit"])
def test_writes_go_on_after_one_that_failed_for_lack_of_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object, **__: object) -> None:
        raise MemoryError

    with in_file(tmp_path / "trials.db") as service:
        service.client().create_trial("t", "uniform", ("walk", "aspirin"))
        for path, body in (("/trials/t/recommendations", {"subject": "S-1"}), ("/tokens", _STATISTICIAN)):
            monkeypatch.setattr(GroupCommit, name, no_memory)
            reply = service.send("POST", path, body, key="key")
            if name == "_commit" and path == "/tokens":
                assert reply.status == 201  # a function, not a command
            else:
                assert (reply.status, reply.headers["retry-after"]) == (503, "1")
                assert "it is not known whether the request was written" in reply.json["detail"]
            monkeypatch.undo()
            assert service.send("POST", path, body, key="key").status == 201


_STATISTICIAN = {"role": "statistician", "label": "Ada"}


class _NoRollback:
    """A connection that has no memory to roll back, once."""

    def __init__(self, connection: Any) -> None:
        self._connection, self._has_failed = connection, False

    def execute(self, sql: Any, *arguments: Any, **options: Any) -> Any:
        if sql == "ROLLBACK" and not self._has_failed:
            self._has_failed = True
            raise MemoryError
        return self._connection.execute(sql, *arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_a_transaction_that_could_not_be_rolled_back_ends_before_the_next(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "trials.db")) as store:
        store._connection = _NoRollback(store._connection)  # type: ignore[attr-defined]
        with pytest.raises(MemoryError), store.writing():
            raise ValueError
        assert store._connection.in_transaction  # type: ignore[attr-defined]
        assert Tokens(store).make_first() is not None


def test_the_same_in_postgresql(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object) -> None:
        raise MemoryError

    with closing(open_store(database_url)) as store:
        monkeypatch.setattr(postgres, "roll_back", no_memory)
        monkeypatch.setattr(psycopg.Pipeline, "__exit__", no_memory)  # so that the connection stays in the pipeline
        with pytest.raises(MemoryError), store.writing():
            raise ValueError
        monkeypatch.undo()
        assert Tokens(store).make_first() is not None
