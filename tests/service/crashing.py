"""A service in a process of its own that is there to be killed, started in a fraction of a second.

The processes are forked from one that has imported everything and loaded the compiled policy.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import socket
import sqlite3
import sys
import time
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.service.serve import serve
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend, RecommendationResponse, Report
from adhere.trial.writing.processor import CommandProcessor
from trial.live import send

_WARM = "ADHERE_TESTS_WARM_UP"  # set where processes are forked from
POLICY, ARMS = "thompson/actual", ("walk", "aspirin")


def forking() -> Any:
    """A way to start processes that begin with this module loaded and the policy compiled."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    before = dict(os.environ)
    os.environ |= {"PYTHONPATH": str(Path(__file__).parents[1]), _WARM: "yes"}  # only so does it find this module
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ |= before
    return context


def warm_up() -> None:
    """Load the compiled policy once, for all processes forked from this one."""
    processor = CommandProcessor(open_store())
    processor.create(make_design("warm", POLICY, ARMS))
    made = send(processor, Recommend(trial="warm", request_id="1", subject="s"))
    assert isinstance(made, RecommendationResponse)
    recommendation_id = made.recommendation_id
    send(
        processor,
        Report(trial="warm", request_id="2", recommendation_id=recommendation_id, actual="walk", reward=1.0),
    )
    processor.store.close()


def new_trial(path: Path, name: str = "t") -> str:
    """Make a file with a trial and a site's token."""
    store = open_store(path)
    CommandProcessor(store).create(make_design(name, POLICY, ARMS))
    _, text = Tokens(store).make("site", "the tests", site="Leeds")
    store.close()
    return text


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def run_service(path: str, port: int, synchronous: str = "FULL") -> None:
    """What the process to be killed does."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
    if synchronous != "FULL":
        _spoil_durability(synchronous)
    serve(ServiceSettings(data=path, port=port))


def _spoil_durability(synchronous: str) -> None:
    """Open every database as somebody would who wants speed more than their data."""
    from adhere.store.sqlite import SqliteStore

    prepare = SqliteStore._prepare

    def spoiled(self: Any, read_only: bool) -> None:
        prepare(self, read_only)
        connection: sqlite3.Connection = self._connection
        connection.execute(f"PRAGMA synchronous = {synchronous}")

    SqliteStore._prepare = spoiled  # type: ignore[method-assign]


def wait_until_ready(port: int, process: BaseProcess | None = None, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process is not None and not process.is_alive():
            raise AssertionError(f"the service ended with {process.exitcode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.01)
    raise AssertionError("the service does not answer")


if os.environ.pop(_WARM, None):
    warm_up()
