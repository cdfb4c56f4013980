"""A start that fails: which causes are tried again, and by which rules of the unit it is started once more."""

from __future__ import annotations

import errno
import signal
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from adhere.errors import InputError, StoreUnavailableError
from adhere.service import logs
from adhere.service.serve import serve
from adhere.service.settings import ServiceSettings
from adhere.service.starting import LATER, REFUSED, StartError, start
from adhere.store import open_store
from deploy.supervisor import Rules, Supervisor, seconds
from service.serving import wait_until


@pytest.mark.slow
def test_a_start_is_tried_again_while_its_cause_may_pass(caplog: pytest.LogCaptureFixture) -> None:
    causes: list[Exception] = [
        StoreUnavailableError("the database is starting up"),
        OSError(28, "No space left on device", "/var/lib/adhere/adhere.db"),
    ]

    def attempt() -> str:
        if causes:
            raise causes.pop(0)
        return "started"

    assert start(attempt, 60.0) == "started"
    said = [message.partition(": ")[2] for message in caplog.messages]
    assert said == ["the database is starting up", "/var/lib/adhere/adhere.db: No space left on device"]


def test_a_start_that_cannot_succeed_is_tried_once() -> None:
    tries = []

    def attempt(error: Exception) -> None:
        tries.append(error)
        raise error

    with pytest.raises(InputError):
        start(lambda: attempt(InputError("port", 0, "another")), 60.0)
    with pytest.raises(StartError, match="in use"):
        start(lambda: attempt(StoreUnavailableError("in use")), 0.0)
    with pytest.raises(StartError, match="too little memory"):
        start(lambda: attempt(MemoryError()), 0.0)
    with pytest.raises(ZeroDivisionError):
        start(lambda: attempt(ZeroDivisionError()), 60.0)
    assert len(tries) == 4


def test_a_port_or_a_file_in_use_may_be_free_later(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"127.0.0.1:{port} cannot be listened on: Address already in use"):
            serve(ServiceSettings(data=str(tmp_path / "new.db"), port=port, start_seconds=0.0))
    assert not list(tmp_path.iterdir())  # nothing is left of a start that failed
    store = open_store(tmp_path / "trials.db")
    with pytest.raises(StartError, match="is being written by another process"):
        serve(ServiceSettings(data=str(tmp_path / "trials.db"), port=0, start_seconds=0.0))
    store.close()


def test_a_log_on_a_full_disk_may_have_space_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(logs.LogFile, "__init__", full)
    with pytest.raises(StartError, match="log cannot be written: No space left on device"):
        serve(
            ServiceSettings(data=str(tmp_path / "new.db"), log_file=str(tmp_path / "adhere.log"), start_seconds=0.0)
        )


@pytest.mark.parametrize(
    "settings",
    [
        {"data": "/nonexistent/adhere.db"},
        {"data": "/"},
        {"database_url": "postgresql://adhere@127.0.0.1/adhere?sslmode=maybe"},
        {"database_url": "postgresql://adhere@127.0.0.1:99999/adhere"},
        {"host": "192.0.2.1.example"},
        {"secret_file": "/nonexistent/secrets"},
        {"admin_token_file": "/nonexistent/token"},
    ],
)
def test_wrong_settings_are_not_tried_again(settings: dict[str, str], tmp_path: Path) -> None:
    here = {"data": str(tmp_path / "adhere.db")} if "database_url" not in settings else {}
    with pytest.raises(InputError):
        serve(ServiceSettings(**{"port": 0, **here, **settings}))  # type: ignore[arg-type]


def test_the_units_rules() -> None:
    rules = Rules.read()
    assert not rules.limit_seconds  # by default systemd gives up after five starts in ten seconds
    codes = (0, 1, 2, 3, REFUSED, LATER, -signal.SIGTERM, -signal.SIGKILL)
    assert [code for code in codes if rules.starts_again(code)] == [1, 3, LATER, -signal.SIGKILL]
    assert (seconds("1min 30s"), seconds("100ms"), seconds("5")) == (90.0, 0.1, 5.0)


def test_the_supervisor_gives_up_where_systemd_would(tmp_path: Path) -> None:
    rules = replace(Rules.read(), limit_seconds=10.0, restart_seconds=0.0)
    with Supervisor(tmp_path / "log", rules=rules, command=["false"]) as running:
        wait_until(lambda: running.state == "failed")
    assert running.codes == [1] * 5
