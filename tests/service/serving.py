"""A real service on a free port, in a thread of this process or in a process of its own."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import uvicorn

from adhere.access.tokens import Tokens
from adhere.client import Client
from adhere.service.api.route import Route
from adhere.service.app import make_app
from adhere.service.http.http_server import HttpServer
from adhere.service.pages.page_request import PageRoute
from adhere.service.settings import ServiceSettings
from adhere.store import Store, open_store
from adhere.trial.domain.events import Recommended, created_event, decode
from adhere.trial.domain.log_records import walk

Loop: TypeAlias = Literal["asyncio", "uvloop"]
ARMS = ("walk", "aspirin")


@dataclass(frozen=True)
class Reply:
    """An answer as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Service:
    """A running service and the tokens of its test users."""

    port: int
    admin: str
    store: Store | None = None
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, role: str = "admin") -> Client:
        return Client(self.url, self.token(role), tries=2)

    def token(self, role: str) -> str:
        """A token of an admin, a statistician or a site ("site" is of site A, "other" of site B)."""
        if role == "admin":
            return self.admin
        if role not in self.tokens:
            site = {"site": "A", "other": "B"}.get(role)
            made = self.client().make_token("site" if site else role, f"the {role} of the tests", site=site)
            self.tokens[role] = made.token
        return self.tokens[role]

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        role: str | None = "admin",
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Reply:
        """Send bytes as they are, anything else as JSON, with the headers that every request needs."""
        sent = {"Idempotency-Key": key or str(uuid.uuid4())}
        if role is not None:
            sent["Authorization"] = f"Bearer {self.token(role)}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        try:
            connection.request(method, path, data, {name: value for name, value in sent.items() if value})
            answer = connection.getresponse()
            said = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, said, answer.read())
        finally:
            connection.close()

    def raw(self, data: bytes, then: bytes = b"") -> bytes:
        """Send bytes over a socket and read until the service hangs up or has answered."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(data)
            try:
                connection.sendall(then)
                connection.shutdown(socket.SHUT_WR)
            except OSError:  # it hung up before all was sent, as it may
                pass
            found = b""
            while part := _received(connection):
                found += part
            return found

    def new_trial(self, **design: Any) -> str:
        """A trial with a name of its own."""
        name = f"trial-{uuid.uuid4().hex[:12]}"
        self.client().create_trial(name, **{"policy": "thompson/actual", "arms": ARMS, **design})
        return name

    def ids(self, trial: str) -> list[str]:
        """The IDs of a trial's recommendations in the order in which they were made, which nobody is told."""
        assert self.store is not None
        with self.store.reading() as view:
            events = [decode(record.body) for record in walk(view, view.trials()[trial])]
        return [event.recommendation_id for event in events if isinstance(event, Recommended)]

    def seed(self, trial: str) -> int | None:
        """The seed in the first record of a rehearsal, which the service tells nobody."""
        assert self.store is not None
        with self.store.reading() as view:
            return created_event(view, view.trials()[trial]).seed

    def secret(self, trial: str) -> bytes:
        """The secret by which a trial draws its arms, which the service tells nobody before it is revealed."""
        assert self.store is not None
        with self.store.reading() as view:
            secret = view.secret(created_event(view, view.trials()[trial]).commitment)
        assert secret is not None
        return secret


def path_of(route: Route | PageRoute, trial: str, recommendation_id: str = "", number: int = 0) -> str:
    """The path of a route for a trial, one of its recommendations, and a token or simulation."""
    values = {"trial": trial, "recommendation_id": recommendation_id, "token": str(number), "simulation": str(number)}
    return re.sub(r"{(\w+)}", lambda found: values[found[1]], route.path)


def spellings(secret: bytes) -> list[bytes]:
    """A secret as it might be written: its bytes, digits and letters, or each eight bytes of it."""
    whole = [base64.b64encode(secret), base64.urlsafe_b64encode(secret), base64.b32encode(secret)]
    parts = [secret[first : first + 8] for first in range(0, len(secret), 8)]
    numbers = [str(int.from_bytes(part, order)).encode() for part in parts for order in ("big", "little")]
    digits = [part.hex().encode() for part in parts]
    return [*(text.rstrip(b"=") for text in whole), *parts, *digits, *(text.upper() for text in digits), *numbers]


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


@contextmanager
def in_thread(store: Store, settings: ServiceSettings | None = None, loop: Loop = "asyncio") -> Iterator[Service]:
    """Serve a new store from a thread of this process."""
    token = Tokens(store).make_first()
    assert token is not None
    with serving_again(store, token, settings, loop) as service:
        yield service


class _Attentive(HttpServer):
    """Looks ten times as often as others whether it should end: very many are ended."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(0.01)


@contextmanager
def serving_again(
    store: Store, token: str, settings: ServiceSettings | None = None, loop: Loop = "asyncio"
) -> Iterator[Service]:
    """Serve a store that has an admin token from a thread of this process; without settings, pages do not wait."""
    settings = settings or ServiceSettings(tap_delay=0)
    config = uvicorn.Config(
        make_app(store, settings), ws="none", loop=loop, log_config=None, access_log=False, proxy_headers=False
    )
    server = _Attentive(config, settings)
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Service(listening.getsockname()[1], token, store)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def in_file(path: Path, settings: ServiceSettings | None = None) -> Iterator[Service]:
    """Serve a new SQLite file."""
    with in_thread(open_store(path), settings) as service:
        yield service


@dataclass
class Process:
    """The service as a program."""

    process: subprocess.Popen[str]
    service: Service
    said: list[str]
    errors: Path

    def stop(self, signal: int) -> tuple[int, str]:
        """End it; returns its exit code and what it wrote to standard error."""
        self.process.send_signal(signal)
        return self.process.wait(timeout=60), self.errors.read_text()


@contextmanager
def as_process(
    database: Path | str, errors_in: Path, *options: str, token: str = "", by: Sequence[str] = ()
) -> Iterator[Process]:
    """Start the program, `by` another if given, and wait until it serves."""
    where = "--database-url" if isinstance(database, str) else "--data"
    first = errors_in / f"admin-token-{uuid.uuid4().hex}"
    place = [where, str(database), "--port", "0", "--admin-token-file", str(first)]
    command = [*by, sys.executable, "-m", "adhere", "serve", *place, *options]
    errors = errors_in / "stderr.txt"  # a pipe that nobody reads would fill up and stop the service
    with errors.open("w") as file:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True)
    try:
        said: list[str] = []
        assert process.stdout is not None
        while not said or "Serving on" not in said[-1]:
            line = process.stdout.readline()
            assert line, errors.read_text()
            said.append(line.strip())
        service = Service(int(said[-1].rpartition(":")[2]), first.read_text().strip() if first.exists() else token)
        yield Process(process, service, said, errors)
    finally:
        if process.poll() is None:
            process.terminate()  # not killed: it has to end its workers
        process.communicate(timeout=60)


def wait_until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for something that another thread brings about."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.05)
