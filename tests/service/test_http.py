"""HTTP as clients may speak it: bodies announced by Expect, trailers, many requests at once, blanks in headers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from service.serving import Service

EXPECT = "Expect: 100-continue\r\n"


@pytest.fixture(scope="module")
def trial(service: Service) -> str:
    return service.new_trial()


@pytest.fixture
def connection(service: Service) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as opened:
        yield opened


def head(path: str, *lines: str, method: str = "POST") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\n{''.join(lines)}\r\n".encode()


def bearer(service: Service) -> str:
    return f"Authorization: Bearer {service.admin}\r\n"


def with_body(length: int, key: str = "k") -> str:
    return f"Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"


def recommendations(service: Service, trial: str) -> int:
    return service.client().trial(trial).recommendations or 0


def read_until(connection: socket.socket, end: bytes) -> bytes:
    found = b""
    while not found.endswith(end):
        part = connection.recv(1 << 16)
        assert part, found
        found += part
    return found


def exchange(connection: socket.socket, data: bytes) -> list[bytes]:
    """Send requests, then one that ends the connection; the answers to the former, from their status on."""
    connection.sendall(data + head("/healthz", "Connection: close\r\n", method="GET"))
    found = b""
    while part := connection.recv(1 << 20):
        found += part
    answers = found.split(b"HTTP/1.1 ")[1:]
    return answers[:-1] if b"connection: close" in answers[-1] and answers[-1].startswith(b"200") else answers


def test_a_body_announced_by_expect_is_asked_for_at_once(
    service: Service, trial: str, connection: socket.socket
) -> None:
    body = b'{"subject": "expected"}'
    connection.settimeout(0.8)  # curl sends the body anyway after a second
    connection.sendall(head(f"/trials/{trial}/recommendations", bearer(service), with_body(len(body)), EXPECT))
    assert read_until(connection, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.settimeout(10)
    connection.sendall(body)
    assert connection.recv(1 << 16).startswith(b"HTTP/1.1 201 ")


@pytest.mark.parametrize(("length", "token", "status"), [(20, False, 401), (10**6, True, 413)])
def test_the_body_of_a_refused_request_is_not_asked_for(
    service: Service, trial: str, connection: socket.socket, length: int, token: bool, status: int
) -> None:
    lines = (bearer(service) if token else "", with_body(length), EXPECT)
    connection.sendall(head(f"/trials/{trial}/recommendations", *lines))
    assert connection.recv(1 << 16).startswith(f"HTTP/1.1 {status} ".encode())


CHUNKED = "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
BODY = b'17\r\n{"subject": "trailing"}\r\n0\r\n'


@pytest.mark.parametrize("pause", [0.0, 0.3])
@pytest.mark.parametrize("field", ["authorization", "idempotency-key", "content-type", "Content-Length"])
def test_what_matters_is_not_taken_from_trailers(
    service: Service, trial: str, connection: socket.socket, field: str, pause: float
) -> None:
    lines = {
        "authorization": bearer(service),
        "idempotency-key": "Idempotency-Key: trailer\r\n",
        "content-type": "Content-Type: application/json\r\n",
        "Content-Length": "Content-Length: 23\r\n",
    }
    before = recommendations(service, trial)
    in_head = [line for name, line in lines.items() if name not in (field, "Content-Length", "content-type")]
    sent = head(f"/trials/{trial}/recommendations", *in_head, CHUNKED)
    trailer = lines[field].encode() + b"\r\n"
    if pause:  # the handler has begun by then
        connection.sendall(sent + BODY)
        time.sleep(pause)
        connection.sendall(trailer)
    else:
        connection.sendall(sent + BODY + trailer)
    answer = connection.recv(1 << 16)
    already_refused = pause and field == "authorization"
    assert answer.startswith(b"HTTP/1.1 401 " if already_refused else b"HTTP/1.1 400 "), answer
    assert recommendations(service, trial) == before


def test_other_trailers_are_ignored(service: Service, trial: str, connection: socket.socket) -> None:
    lines = (bearer(service), "Idempotency-Key: other\r\n", CHUNKED)
    data = head(f"/trials/{trial}/recommendations", *lines) + BODY + b"X-Checksum: 1\r\n\r\n"
    assert [answer[:3] for answer in exchange(connection, data)] == [b"201"]


@pytest.mark.parametrize("trailer", [False, True])
def test_a_bad_request_is_answered_after_those_before_it(
    service: Service, trial: str, connection: socket.socket, trailer: bool
) -> None:
    body = b'{"subject": "in order"}'
    path = f"/trials/{trial}/recommendations"
    good = head(path, bearer(service), with_body(len(body), "order")) + body
    bad = head(path, "Idempotency-Key: t\r\n", CHUNKED) + BODY + bearer(service).encode() + b"\r\n"
    answers = exchange(connection, good + good + (bad if trailer else b"nonsense\r\n\r\n"))
    assert [answer[:3] for answer in answers] == [b"201", b"201", b"400"]


def test_a_thousand_requests_at_once_are_answered_in_order(
    service: Service, trial: str, connection: socket.socket
) -> None:
    paths = [f"/trials/{trial}", "/healthz", "/nowhere", "/trials"] * 250
    data = b"".join(head(path, bearer(service), method="GET") for path in paths)
    connection.sendall(data[:100_010])  # ends in the middle of a head
    time.sleep(0.1)
    answers = exchange(connection, data[100_010:])
    assert [answer[:3] for answer in answers] == [b"200", b"200", b"404", b"200"] * 250
    assert all(f'"name":"{trial}"'.encode() in answer for answer in answers[::4])


def test_requests_that_nobody_waits_for_do_not_pile_up(service: Service, connection: socket.socket) -> None:
    """While responses are not read, no more requests are."""
    connection.settimeout(1.0)
    data = head("/openapi.json", method="GET") * 1000
    sent = 0
    with suppress(TimeoutError):
        while sent < 1 << 26:
            sent += connection.send(data)
    assert sent < 1 << 25


@pytest.mark.parametrize("size", [80_000, 200_000])
def test_a_head_is_counted_for_itself(service: Service, connection: socket.socket, size: int) -> None:
    small, good = head("/healthz", method="GET"), head("/healthz", f"X: {'x' * 50_000}\r\n", method="GET")
    large = head("/healthz", f"X: {'x' * size}\r\n", method="GET")
    answers = exchange(connection, small * 1000 + good * 2 + large)
    assert [answer[:3] for answer in answers] == [b"200"] * 1002 + [b"400"]
    assert b"head is larger than 65536 bytes" in answers[-1]


@pytest.mark.parametrize("blanks", [" ", "\t", "  \t "])
def test_blanks_around_a_token_are_no_part_of_it(service: Service, connection: socket.socket, blanks: str) -> None:
    after, before = (f"Bearer {service.admin}{blanks}", f"Bearer {blanks}{service.admin}")
    data = b"".join(head("/trials", f"Authorization: {value}\r\n", method="GET") for value in (after, before))
    assert [answer[:3] for answer in exchange(connection, data)] == [b"200", b"200"]
