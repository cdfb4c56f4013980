"""Clients that are silent, slow, too many or do not read cannot hold the service up."""

from __future__ import annotations

import http.client
import resource
import signal
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from service.serving import Loop, Service, as_process, in_thread, wait_until
from slow import slow

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
QUICK = ServiceSettings(head_timeout=0.4, body_timeout=0.4, idle_timeout=0.4, read_timeout=0.4)
PATIENCE = 10.0  # beyond any of these time-outs, below the defaults


@pytest.fixture(scope="module", params=["asyncio", slow("uvloop")])
def quick(request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service that does not wait long for its clients."""
    loop: Loop = request.param
    with in_thread(open_store(), QUICK, loop) as service:
        yield service


@contextmanager
def connected(service: Service, *, receive_buffer: int | None = None) -> Iterator[socket.socket]:
    with socket.socket() as connection:
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", service.port))
        yield connection


def all_of(connection: socket.socket) -> bytes:
    """All that comes until the service hangs up."""
    found = b""
    try:
        while part := connection.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return found


def head(service: Service, path: str = "/trials", length: int | None = None) -> bytes:
    lines = f"Authorization: Bearer {service.admin}\r\n"
    if length is not None:
        lines += f"Idempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
    return f"{'GET' if length is None else 'POST'} {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode()


def ask(connection: socket.socket, data: bytes) -> bytes:
    """One small answer."""
    connection.sendall(data)
    return connection.recv(1 << 16)


def trickle(connection: socket.socket, data: bytes) -> bytes:
    """Send byte by byte, for as long as it lasts; what comes back."""
    connection.settimeout(0.05)
    end = time.monotonic() + PATIENCE
    for byte in data:
        assert time.monotonic() < end, "it was not cut"
        try:
            connection.sendall(bytes([byte]))
            if part := connection.recv(1 << 16):
                return part
        except TimeoutError:
            continue
        except ConnectionError:
            break
        break
    return b""


def test_who_says_nothing_is_hung_up_on(quick: Service) -> None:
    with connected(quick) as silent, connected(quick) as idle:
        assert ask(idle, GET).startswith(b"HTTP/1.1 200 ")
        assert all_of(silent) == b""
        assert all_of(idle) == b""


def test_half_a_request_is_answered_and_cut(quick: Service) -> None:
    with connected(quick) as in_head, connected(quick) as in_body:
        in_head.sendall(GET[:-4])
        in_body.sendall(head(quick, length=100) + b"{")
        assert all_of(in_head).startswith(b"HTTP/1.1 408 ")
        answer = all_of(in_body)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"application/problem+json" in answer
    with connected(quick) as second:  # the head of a second request
        second.sendall(GET + GET[:-4])
        assert [part[:3] for part in all_of(second).split(b"HTTP/1.1 ")[1:]] == [b"200", b"408"]


def test_a_byte_now_and_then_does_not_help(quick: Service) -> None:
    with connected(quick) as in_head:
        assert trickle(in_head, b"GET / HTTP/1.1\r\nX: " + b"x" * 1000).startswith(b"HTTP/1.1 408 ")
    with connected(quick) as in_body:
        in_body.sendall(head(quick, length=1000))
        assert trickle(in_body, b" " * 1000).startswith(b"HTTP/1.1 408 ")
    with connected(quick) as blank:
        assert trickle(blank, b"\r\n" * 500) == b""


def test_the_body_of_a_refused_request_may_not_take_for_ever(quick: Service) -> None:
    with connected(quick) as refused:
        lines = b"POST /trials HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
        assert ask(refused, lines).startswith(b"HTTP/1.1 401 ")
        assert trickle(refused, b" " * 1000) == b""


def test_who_does_not_read_is_cut(quick: Service) -> None:
    with connected(quick, receive_buffer=4096) as deaf:
        deaf.settimeout(0.2)
        data = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100
        end = time.monotonic() + PATIENCE
        with pytest.raises(ConnectionError):  # noqa: PT012 (it is cut at some time in this loop)
            while time.monotonic() < end:
                try:
                    deaf.sendall(data)
                except TimeoutError:
                    continue


def test_a_request_that_takes_long_is_not_cut(quick: Service) -> None:
    with connected(quick) as patient:
        for _ in range(4):  # far longer in all than any time-out
            assert ask(patient, head(quick)).startswith(b"HTTP/1.1 200 ")
            time.sleep(0.15)


def test_new_clients_take_the_place_of_strangers() -> None:
    with in_thread(open_store(), ServiceSettings(max_connections=4), "uvloop") as service, ExitStack() as stack:
        known = [stack.enter_context(connected(service)) for _ in range(2)]
        for connection in known:
            assert ask(connection, head(service)).startswith(b"HTTP/1.1 200 ")
        strangers = []
        for _ in range(6):
            strangers.append(stack.enter_context(connected(service)))
            assert ask(strangers[-1], GET).startswith(b"HTTP/1.1 200 ")
        for connection in strangers[:4]:
            assert all_of(connection) == b""
        for connection in (*known, *strangers[4:]):
            assert ask(connection, head(service)).startswith(b"HTTP/1.1 200 ")
        for connection in (*known, *strangers[4:]):  # a request is handled on each: its body has not come yet
            connection.sendall(head(service, length=100))
        wait_until(lambda: _is_turned_away(service))
        known[0].close()
        wait_until(lambda: _is_let_in(service))


def _is_turned_away(service: Service) -> bool:
    with connected(service) as connection:
        answer = all_of(connection) if not _is_let_in(service) else b""
    return answer.startswith(b"HTTP/1.1 503 ") and b"4 connections are open, all of them with a valid" in answer


def _is_let_in(service: Service) -> bool:
    with connected(service) as connection:
        return ask(connection, GET).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow
def test_no_descriptors_left(tmp_path: Path) -> None:
    """A client that is in gets what it asks for, or a 503, never a 500; one that gets in later too."""
    few = ("sh", "-c", 'ulimit -n 64 && exec "$0" "$@"')
    with ExitStack() as stack:
        running = stack.enter_context(as_process(tmp_path / "trials.db", tmp_path, by=few))
        service, pid = running.service, running.process.pid
        working = stack.enter_context(connected(service))
        assert ask(working, head(service)).startswith(b"HTTP/1.1 200 ")
        silent = [stack.enter_context(connected(service)) for _ in range(100)]
        name = service.new_trial(policy="uniform")
        made = service.client().recommend(name, "S-1").id
        paths = [
            f"/trials/{name}{rest}"
            for rest in ("", f"/recommendations/{made}", "/results", "/export", "/export?format=log")
        ]
        assert statuses_of(service, working, name, []) == (b"201",)
        # Not one more, for this process: what it opens from now on fails.
        n_open = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (n_open, 64))
        statuses = statuses_of(service, working, name, [*paths, "/trials", "/readyz", "/metrics", "/openapi.json"])
        assert set(statuses) <= {b"200", b"201", b"503"}, statuses
        assert ask(working, GET).startswith(b"HTTP/1.1 200 ")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64))
        for connection in silent:
            connection.close()
        wait_until(lambda: set(statuses_of(service, working, name, paths)) <= {b"200", b"201"}, 30)
        wait_until(lambda: _is_let_in(service))
        assert running.stop(signal.SIGTERM)[0] == 0


def statuses_of(service: Service, connection: socket.socket, trial: str, paths: list[str]) -> tuple[bytes, ...]:
    """The statuses of a new recommendation and of what is read."""
    key = uuid.uuid4().hex.encode()
    body = b'{"subject": "%s"}' % key
    lines = head(service, f"/trials/{trial}/recommendations", len(body)).replace(b": k\r", b": %s\r" % key)
    found = [ask(connection, lines + body)[9:12]]
    for path in paths:
        request = http.client.HTTPConnection("127.0.0.1", service.port)
        request.sock = connection
        request.request("GET", path, headers={"Authorization": f"Bearer {service.admin}"})
        answer = request.getresponse()
        answer.read()
        found.append(str(answer.status).encode())
        request.sock = None
    return tuple(found)
