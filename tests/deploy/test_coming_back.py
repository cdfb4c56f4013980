"""Causes that pass: the service tries, ends, is started again by the rules of its unit, and comes back by itself."""

from __future__ import annotations

import errno
import http.client
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from adhere.client import Client
from adhere.service.starting import LATER, REFUSED
from adhere.store import open_store
from deploy.supervisor import Supervisor
from service.crashing import free_port
from service.serving import wait_until
from store.faulty_disk import FaultyDisk
from store.postgres_proxy import PostgresProxy
from store.postgres_server import PostgresServer, fresh_database, running_server

pytestmark = pytest.mark.slow
START_SECONDS = 2.0  # so that each cause outlasts one process, and the unit has to start another
PATIENCE = 120.0


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@contextmanager
def supervised(folder: Path, **settings: object) -> Iterator[tuple[Supervisor, int]]:
    """Run the service by the unit's rules, with settings as variables."""
    port = settings.setdefault("port", free_port())
    given = {"start_seconds": START_SECONDS, "admin_token_file": folder / "admin-token", **settings}
    variables = {f"ADHERE_{name.upper()}": str(value) for name, value in given.items()}
    with Supervisor(folder / "log", variables, cwd=folder) as running:
        yield running, int(str(port))


def is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def comes_back(running: Supervisor, port: int, reason: str, cure: Callable[[], object]) -> None:
    """The cause is logged and ends at least one process; once it is gone, the service is ready."""
    wait_until(lambda: LATER in running.codes, PATIENCE)
    assert "not started yet" in running.log
    assert reason in running.log
    assert running.state in ("active", "activating")
    cure()
    wait_until(lambda: is_ready(port), PATIENCE)
    assert set(running.codes) == {LATER}
    assert "Traceback" not in running.log


def test_postgresql_that_refuses_connections(postgres: PostgresServer, tmp_path: Path) -> None:
    url, door = fresh_database(postgres.url), free_port()
    with closing(PostgresProxy(url, door)) as proxy:
        address = proxy.url
    proxies: list[PostgresProxy] = []
    with supervised(tmp_path, database_url=address) as (running, port):
        comes_back(running, port, "Connection refused", lambda: proxies.append(PostgresProxy(url, door)))
    proxies[0].close()


def test_postgresql_that_is_silent(postgres: PostgresServer, tmp_path: Path) -> None:
    with closing(PostgresProxy(fresh_database(postgres.url))) as proxy:
        proxy.silent = True
        with supervised(tmp_path, database_url=proxy.url, store_deadline=2, start_seconds=4) as (running, port):

            def speak() -> None:
                proxy.silent = False

            comes_back(running, port, "timeout", speak)


def test_a_database_that_is_created_later(postgres: PostgresServer, tmp_path: Path) -> None:
    def create() -> None:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute("CREATE ROLE later LOGIN")
            connection.execute("CREATE DATABASE later OWNER later")

    url = postgres.url.replace("postgres@/postgres", "later@/later")
    with supervised(tmp_path, database_url=url) as (running, port):
        comes_back(running, port, 'role \\"later\\" does not exist', create)


def test_a_host_whose_name_is_not_known_yet(tmp_path: Path) -> None:
    with supervised(tmp_path, database_url="postgresql://adhere@database.invalid/adhere") as (running, _):
        wait_until(lambda: running.codes == [LATER, LATER], PATIENCE)
        assert running.state in ("active", "activating")
    assert "database.invalid" in running.log


def test_after_a_power_cut_with_a_slow_database(tmp_path: Path) -> None:
    """The database recovers for longer than the service waits: what was acknowledged is there afterwards."""
    server = PostgresServer()
    try:
        server.prepare()
        server.start()
        url = fresh_database(server.url)
        with supervised(tmp_path, database_url=url) as (running, port):
            wait_until(lambda: is_ready(port), PATIENCE)
            client = Client(f"http://127.0.0.1:{port}", (tmp_path / "admin-token").read_text().strip())
            client.create_trial("t", "uniform", ("walk", "aspirin"))
            made = client.recommend("t", "S-1", request_id="first").id
            server.crash()
            go = server.start_in_recovery()
            running.kill()
            wait_until(lambda: running.codes[:1] == [-signal.SIGKILL], PATIENCE)
            running.codes.clear()
            comes_back(running, port, "the database system is starting up", go.touch)
            assert client.recommend("t", "S-1", request_id="first").id == made
        server.stop()
    finally:
        server.remove()


def test_workers_whose_database_goes_away_before_they_start(postgres: PostgresServer, tmp_path: Path) -> None:
    with closing(PostgresProxy(fresh_database(postgres.url))) as proxy:
        settings = {"database_url": proxy.url, "store_deadline": 2, "workers": 2, "start_seconds": 60}
        with supervised(tmp_path, **settings) as (running, port):
            wait_until(lambda: "Serving on" in running.log, PATIENCE)
            proxy.silent = True
            proxy.hang_up()
            wait_until(lambda: running.log.count("not started yet") >= 2, PATIENCE)
            proxy.silent = False
            wait_until(lambda: is_ready(port), PATIENCE)
        assert "worker cannot start" not in running.log
        assert running.codes == [0]


def test_a_port_in_use(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        supervised(tmp_path, data="adhere.db", port=taken.getsockname()[1]) as (running, port),
    ):
        comes_back(running, port, "Address already in use", taken.close)
    assert (tmp_path / "admin-token").exists()


def test_a_file_that_another_process_writes_to(tmp_path: Path) -> None:
    with (
        closing(open_store(tmp_path / "adhere.db")) as other,
        supervised(tmp_path, data="adhere.db") as (running, port),
    ):
        comes_back(running, port, "is being written by another process", other.close)


def test_a_file_that_another_program_has_locked(tmp_path: Path) -> None:
    """SQLite itself waits for half a minute before the service tries again."""
    open_store(tmp_path / "adhere.db").close()
    with (
        closing(sqlite3.connect(tmp_path / "adhere.db", isolation_level=None)) as other,
        supervised(tmp_path, data="adhere.db", start_seconds=0) as (running, port),
    ):
        other.execute("BEGIN EXCLUSIVE")
        wait_until(lambda: LATER in running.codes, PATIENCE)
        assert "database is locked" in running.log
        other.execute("ROLLBACK")
        wait_until(lambda: is_ready(port), PATIENCE)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_full_disk(tmp_path: Path, is_new: bool) -> None:
    folder = tmp_path / "disk"
    disk = FaultyDisk(folder)
    if not is_new:
        open_store(folder / "adhere.db").close()
    full = disk.environment(1, errno.ENOSPC, sticky=True)
    environment = {"data": folder / "adhere.db", "admin_token_file": folder / "admin-token"}
    with supervised(tmp_path, **environment) as (running, port):
        pass  # stopped at once, to start it on the full disk
    running.environment |= {name: full[name] for name in full if name == "LD_PRELOAD" or name.startswith("FAULTY")}
    running.codes.clear()
    running.start()
    try:
        comes_back(running, port, "adhere.db", lambda: running.environment.pop("LD_PRELOAD"))
    finally:
        running.stop()
    assert (folder / "admin-token").read_text().startswith("adh_")


def test_a_database_that_a_person_must_look_at_is_not_tried_again(tmp_path: Path) -> None:
    (tmp_path / "adhere.db").write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    with supervised(tmp_path, data="adhere.db") as (running, _):
        wait_until(lambda: running.state == "failed", PATIENCE)
    assert running.codes == [REFUSED]


def test_wrong_settings_end_it_for_good(tmp_path: Path) -> None:
    with supervised(tmp_path, data="/nonexistent/adhere.db") as (running, _):
        wait_until(lambda: running.state == "failed", PATIENCE)
    assert running.codes == [2]
    assert "folder /nonexistent does not exist" in running.log


def test_it_can_be_stopped_while_it_tries(postgres: PostgresServer, tmp_path: Path) -> None:
    with closing(PostgresProxy(fresh_database(postgres.url))) as proxy:
        proxy.silent = True
        with supervised(tmp_path, database_url=proxy.url, store_deadline=2, start_seconds=3600) as (running, _):
            wait_until(lambda: "not started yet" in running.log, PATIENCE)
            begin = time.monotonic()
            running.stop()
    assert time.monotonic() - begin < running.rules.stop_seconds  # it had not to be killed
    assert running.codes == [-signal.SIGTERM]
    assert running.state == "inactive"
