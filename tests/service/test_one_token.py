"""One token, however many connections, sessions, requests and streams it has, cannot take the service from others."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from adhere.service.pages.handle_page import COOKIE
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from service.pages.person import Person, sign_in
from service.serving import Service, in_thread, wait_until

PLACES = 40
FEW = ServiceSettings(
    max_connections=PLACES, token_requests=4, session_requests=3, token_streams=3, session_streams=2, head_timeout=60
)


@pytest.fixture(scope="module")
def few() -> Iterator[Service]:
    """A service with few places, for which nobody waits long."""
    with in_thread(open_store(), FEW, "uvloop") as service:
        yield service


@contextmanager
def connected(service: Service) -> Iterator[socket.socket]:
    with socket.socket() as connection:
        connection.settimeout(20)
        connection.connect(("127.0.0.1", service.port))
        yield connection


def request(service: Service, path: str = "/trials", role: str = "statistician", length: int | None = None) -> bytes:
    lines = f"Authorization: Bearer {service.token(role)}\r\n"
    if length is not None:
        lines += f"Idempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
    return f"{'GET' if length is None else 'POST'} {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode()


def ask(connection: socket.socket, data: bytes) -> bytes:
    """The beginning of an answer, if one came."""
    try:
        connection.sendall(data)
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


def problem_of(answer: bytes) -> dict[str, str]:
    """The problem of a 429, which says when to try again."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: " in head.lower()
    found: dict[str, str] = json.loads(body)
    return found


def emergency(service: Service) -> int:
    """The status of another token's requests on connections of their own: a recommendation, and its unblinding."""
    trial = service.new_trial(policy="uniform", blinded=True)
    made = service.client("site").recommend(trial, "S-1")
    body = {"kit": made.kit, "reason": "an emergency"}
    return service.send("POST", f"/trials/{trial}/unblindings", body, role="site").status


def test_idle_connections_of_one_token_make_room(few: Service) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(connected(few))
        assert ask(other, request(few, role="site")).startswith(b"HTTP/1.1 200 ")
        for _ in range(PLACES + 20):
            idle = stack.enter_context(connected(few))
            assert ask(idle, request(few)).startswith(b"HTTP/1.1 200 ")
        assert emergency(few) == 201
        assert ask(other, request(few, role="site")).startswith(b"HTTP/1.1 200 ")  # nobody else's was closed


def test_heads_that_one_token_does_not_end_make_room(few: Service) -> None:
    with ExitStack() as stack:
        for _ in range(PLACES + 5):
            half = stack.enter_context(connected(few))
            assert ask(half, request(few)).startswith(b"HTTP/1.1 200 ")
            half.sendall(request(few)[:-4])
        assert emergency(few) == 201


def test_a_new_client_keeps_its_place_beside_many_idle_connections_of_one_token(few: Service) -> None:
    with ExitStack() as stack:
        for _ in range(PLACES):
            assert ask(stack.enter_context(connected(few)), request(few)).startswith(b"HTTP/1.1 200 ")
        new = [stack.enter_context(connected(few)) for _ in range(10)]
        for one in new:  # they have sent nothing so far, and those that came after them did not take their places
            assert ask(one, request(few, role="site")).startswith(b"HTTP/1.1 200 ")


def test_requests_in_flight_are_capped_for_each_token(few: Service) -> None:
    path = "/trials/none/recommendations"
    with ExitStack() as stack:
        several = [stack.enter_context(connected(few)) for _ in range(FEW.token_requests)]
        for one in several:
            one.sendall(request(few, path, "site", length=2))  # handled from now on: the body is awaited
        late = stack.enter_context(connected(few))
        wait_until(lambda: ask(late, request(few, role="site")).startswith(b"HTTP/1.1 429 "))
        assert "with this token are under way" in problem_of(ask(late, request(few, role="site")))["detail"]
        assert ask(stack.enter_context(connected(few)), request(few, role="other")).startswith(b"HTTP/1.1 200 ")
        assert ask(several[0], b"{}").startswith(b"HTTP/1.1 4")  # the answer makes room for another
        assert ask(late, request(few, role="site")).startswith(b"HTTP/1.1 200 ")
        several[0].sendall(request(few, path, "site", length=2))
        wait_until(lambda: ask(late, request(few, role="site")).startswith(b"HTTP/1.1 429 "))
        several[1].close()  # and so does whoever leaves
        wait_until(lambda: ask(late, request(few, role="site")).startswith(b"HTTP/1.1 200 "))


def stream(service: Service, person: Person, trial: str) -> bytes:
    return (
        f"GET /app/trials/{trial}/monitor/events HTTP/1.1\r\nHost: x\r\n"
        f"Cookie: {COOKIE}={person.secret}\r\nHX-Request: true\r\n\r\n"
    ).encode()


def test_event_streams_are_capped_for_each_session_and_each_token(few: Service) -> None:
    trial = few.new_trial(policy="uniform")
    first, second = sign_in(few, "statistician"), sign_in(few, "statistician")
    with ExitStack() as stack:

        def opened(person: Person) -> tuple[socket.socket, bytes]:
            connection = stack.enter_context(connected(few))
            return connection, ask(connection, stream(few, person, trial))

        streams = [opened(first) for _ in range(FEW.session_streams)]
        assert all(answer.startswith(b"HTTP/1.1 200 ") for _, answer in streams)
        refused, answer = opened(first)
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after: 30" in answer
        assert b"too many pages with this session" in answer.lower()
        assert opened(second)[1].startswith(b"HTTP/1.1 200 ")
        assert b"too many pages with this token" in opened(second)[1].lower()  # as with a third session
        assert opened(sign_in(few, "admin"))[1].startswith(b"HTTP/1.1 200 ")
        for _ in range(5):  # streams do not count as requests under way
            assert first.get(f"/app/trials/{trial}/monitor").status == 200
        streams[0][0].close()
        wait_until(lambda: ask(refused, stream(few, first, trial)).startswith(b"HTTP/1.1 200 "))


def test_refused_streams_of_one_session_shut_nobody_out(few: Service) -> None:
    trial, person = few.new_trial(policy="uniform"), sign_in(few, "statistician")
    with ExitStack() as stack:
        for _ in range(PLACES + 10):
            ask(stack.enter_context(connected(few)), stream(few, person, trial))
        assert emergency(few) == 201


def test_requests_of_one_session_are_capped(few: Service) -> None:
    person = sign_in(few, "site")
    lines = (
        f"POST /app/trials/none/site HTTP/1.1\r\nHost: x\r\nCookie: {COOKIE}={person.secret}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n"
    ).encode()
    with ExitStack() as stack:
        for _ in range(FEW.session_requests):
            stack.enter_context(connected(few)).sendall(lines)
        wait_until(lambda: person.get("/app/trials").status == 429)
        again = person.get("/app/trials")
        assert again.headers["retry-after"] == "1"
        assert b"too many requests with this session" in again.body.lower()
        assert ask(stack.enter_context(connected(few)), request(few, role="site")).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: person.get("/app/trials").status == 200)
