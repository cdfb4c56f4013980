"""Odd HTTP is answered, and logged as no error of ours."""

from __future__ import annotations

import logging
import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adhere.service.api import exports
from adhere.service.jobs.job_functions import FUNCTIONS
from adhere.store import open_store
from service.serving import Service, in_thread, wait_until

GOOD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def exchange(service: Service, data: bytes) -> bytes:
    """Send requests of which the last ends the connection; all the answers."""
    found = b""
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection, suppress(ConnectionError):
        connection.sendall(data)
        while part := connection.recv(1 << 16):
            found += part
    return found


def statuses(answer: bytes) -> list[bytes]:
    return [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize(
    "request_line",
    [b"CONNECT a:1", b"GET http://x", b"GET ?x", b"GET http://x:y/", b"GET /\xc3\xa9", b"GET a", b"POST http://x?/"],
)
def test_a_target_without_a_path_is_refused(
    service: Service, request_line: bytes, before: int, caplog: pytest.LogCaptureFixture
) -> None:
    body = b"Content-Length: 2\r\n\r\n{}" if request_line.startswith(b"POST") else b"\r\n"
    answer = exchange(service, GOOD * before + request_line + b" HTTP/1.1\r\nHost: x\r\n" + body + LAST)
    assert statuses(answer) == [b"200"] * before + [b"400"]
    assert b"problem+json" in answer
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", b"200"),
        (b"GET /healthz HTTP/1.0\r\n\r\n", b"200"),
        (b"GET http://x/healthz HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n", b"200"),
    ],
)
def test_a_request_names_its_host_once(service: Service, head: bytes, status: bytes) -> None:
    assert statuses(exchange(service, GOOD + head + LAST)) == [b"200", status]


CHUNKED = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"


def chunked(service: Service, trial: str, key: str) -> bytes:
    lines = f"Host: x\r\nAuthorization: Bearer {service.admin}\r\nIdempotency-Key: {key}\r\n{CHUNKED}"
    return f"POST /trials/{trial}/recommendations HTTP/1.1\r\n{lines}\r\n".encode()


@pytest.mark.parametrize("where", ["extension", "trailer"])
def test_what_comes_beside_a_body_is_limited(service: Service, where: str) -> None:
    trial = service.new_trial()
    filler = b"x" * 200_000
    extension, trailer = (b";" + filler, b"") if where == "extension" else (b"", b"X: " + filler + b"\r\n")
    body = b"f" + extension + b'\r\n{"subject":"p"}\r\n0\r\n' + trailer + b"\r\n"
    assert statuses(exchange(service, chunked(service, trial, "k") + body + LAST)) == [b"413"]
    assert service.client().trial(trial).recommendations == 0


def test_a_body_may_come_in_chunks_of_one_byte(service: Service) -> None:
    trial = service.new_trial()
    text = b'{"subject":"p"' + b" " * 60_000 + b"}"
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in text) + b"0\r\n\r\n"
    answer = exchange(service, chunked(service, trial, "k") + body + LAST)
    assert statuses(answer) == [b"201", b"200"]


def test_an_encoded_body_is_refused(service: Service) -> None:
    trial = service.new_trial()
    for encoding, status in (("gzip", 415), ("identity", 201)):
        headers = {"Content-Encoding": encoding}
        reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": "p"}, headers=headers)
        assert reply.status == status
    assert [reply.json["recommendation_id"]] == service.ids(trial)  # and none before it


def test_a_client_that_leaves_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It leaves while its first request is handled and others wait; uvloop raises at a write to what is closed."""
    begun, left, export = threading.Event(), threading.Event(), FUNCTIONS["log"]

    def waiting(*arguments: Any) -> Any:
        begun.set()
        assert left.wait(20)
        return export(*arguments)

    monkeypatch.setattr(exports, "_CHUNK", 100)
    with in_thread(open_store(tmp_path / "trials.db"), loop="uvloop") as service:
        path = f"/trials/{service.new_trial()}/export?format=log"
        monkeypatch.setitem(FUNCTIONS, "log", waiting)
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.admin}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(request * 3)
            assert begun.wait(20)
            # Close with a reset, as if the client had died.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        left.set()
        wait_until(lambda: service.send("GET", path).status == 200)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_body_of_unknown_length_is_counted_as_it_comes(service: Service) -> None:
    trial = service.new_trial()
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    answer = service.raw(chunked(service, trial, "k"), chunk * 40)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"application/problem+json" in answer
    assert service.client().trial(trial).recommendations == 0


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
        b"POST /trials HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /trials HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 200_000,
    ],
)
def test_what_is_no_http_gets_a_problem_too(service: Service, data: bytes) -> None:
    answer = service.raw(data)
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert b"application/problem+json" in answer


def test_a_header_that_matters_may_come_once(service: Service) -> None:
    one = f"Authorization: Bearer {service.admin}\r\n"
    answer = service.raw(f"GET /trials HTTP/1.1\r\nHost: x\r\n{one}{one}\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"authorization came twice; send this header once" in answer
    assert b'"expected":"one authorization"' in answer


def test_a_client_that_goes_away_midway_leaves_nothing(service: Service) -> None:
    trial = service.new_trial()
    head = chunked(service, trial, "k").replace(b"Transfer-Encoding: chunked", b"Content-Length: 100")
    before = service.client().trial(trial).head
    service.raw(head + b"{")
    assert service.client().trial(trial).head == before
