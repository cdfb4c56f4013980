"""What both clients do when there is no service, no answer, or half an answer."""

from __future__ import annotations

import http.server
import logging
import pickle
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import adhere
import adhere_client
import adhere_client.attempts
import adhere_client.request
from service.both_clients import BOTH, MakeClient
from service.serving import Service

SECRET = "adh_do-not-show"
Script = Callable[[int], tuple[int, bytes] | None]

both = pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)


class Scripted(http.server.HTTPServer):
    """A server that answers as a function says: a status and a body for the n-th request, or no answer."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.script = script
        self.seen: list[str | None] = []  # the id of each request
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append(self.headers.get("Idempotency-Key"))
        said = self.server.script(len(self.server.seen))
        self.close_connection = True
        if said is None:
            return
        status, body = said
        self.send_response(status)
        self.send_header("X-Adhere-Head", "ab12")
        self.send_header("Content-Length", "9" if body == b"half" else str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def serving(script: Script, port: int = 0) -> Iterator[Scripted]:
    server = Scripted(script, port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


ANSWER = 201, b'{"recommendation_id": "4K7T-9QXA-M98F-RJCB", "arm": "walk"}'


@both
def test_a_call_is_repeated_under_its_id_until_it_is_answered(
    make: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(lambda turn: {1: None, 2: (503, b"{}")}.get(turn, ANSWER)) as server:
        with make(server.url, SECRET) as client:
            assert client.recommend("t", "S-1").id == "4K7T-9QXA-M98F-RJCB"
        assert len(server.seen) == 3
        assert len(set(server.seen)) == 1
        told = [record.getMessage() for record in caplog.records if record.name == "adhere_client"]
        start = f"POST {server.url}/trials/t/recommendations: "
        assert [line.startswith(start) for line in told] == [True, True]
        assert "no answer (" in told[0]
        assert "; retry 1 of 8 in 0." in told[0]
        assert "status 503; retry 2 of 8 in 0." in told[1]
        assert SECRET not in caplog.text


@both
def test_a_token_is_not_made_twice(make: MakeClient) -> None:
    with serving(lambda turn: None if turn == 1 else (503, b'{"detail": "not now"}')) as server:
        with make(server.url, SECRET) as client:
            with pytest.raises(adhere.ServiceError, match="not known whether the request was executed"):
                client.make_token("site", "x")
            with pytest.raises(adhere.ServiceError, match="503: not now"):
                client.make_token("site", "x")
        assert len(server.seen) == 2


@both
def test_nothing_listens(make: MakeClient) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    begun = time.monotonic()
    with make(url, SECRET) as client, pytest.raises(adhere.ServiceError) as caught:
        client.trials()
    assert time.monotonic() - begun < 10  # it took 23 s
    assert str(caught.value) == f"nothing listens at {url} (connection refused); is `adhere serve` running there?"
    assert caught.value.status == 0
    assert SECRET not in "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    )


@both
def test_a_service_that_was_up_may_be_restarted(make: MakeClient) -> None:
    with serving(lambda turn: ANSWER) as server:
        port = server.server_port
        client_of = make(server.url, SECRET)
        client = client_of.__enter__()
        assert client.recommend("t", "S-1").id == "4K7T-9QXA-M98F-RJCB"
    restarted: list[AbstractContextManager[Scripted]] = []

    class Restart(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not restarted:
                restarted.append(serving(lambda turn: ANSWER, port))
                restarted[0].__enter__()

    log, handler = logging.getLogger("adhere_client"), Restart()
    log.addHandler(handler)
    try:
        assert client.recommend("t", "S-2").id == "4K7T-9QXA-M98F-RJCB"
        assert restarted
    finally:
        log.removeHandler(handler)
        client_of.__exit__(None, None, None)
        for server_of in restarted:
            server_of.__exit__(None, None, None)


@both
def test_an_export_comes_whole_or_not_at_all(make: MakeClient, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    with serving(lambda turn: (200, b"half" if turn <= 2 else b"all of it")) as server:
        with make(server.url, SECRET, tries=0) as client, pytest.raises(adhere.ServiceError, match="no answer from"):
            client.export("t", file)
        assert list(tmp_path.iterdir()) == []
        with make(server.url, SECRET) as client:
            assert client.export("t", file) == "ab12"
    assert file.read_bytes() == b"all of it"


@both
def test_answers_that_are_not_adhere_s(make: MakeClient) -> None:
    script = {1: (200, b"<html>"), 2: (404, b"<html>"), 3: (200, b'{"trials": 3}'), 4: (301, b"")}
    with serving(lambda turn: script[turn]) as server, make(server.url, SECRET) as client:
        for words in ("200: an answer that", "404: an answer that", "200: an answer that", "301: the service is at"):
            with pytest.raises(adhere.ServiceError, match=words):
                client.trials()


@both
def test_a_closed_client_says_so(make: MakeClient) -> None:
    with make("http://127.0.0.1:9", SECRET) as client:
        assert repr(client).endswith("Client('http://127.0.0.1:9')")
        client.close()
        with pytest.raises(RuntimeError, match=r"this client of http://127.0.0.1:9 was closed"):
            client.trials()


def test_refusals_are_exceptions_of_both_distributions(service: Service) -> None:
    with adhere.Client(service.url, service.admin) as client:
        for kind, words, refused in (
            ("UnknownError", "nowhere", lambda: client.recommend("nowhere", "S-1")),
            ("InputError", "request_id", lambda: client.recommend("nowhere", "S-1", request_id="a b")),
            ("InputError", "arms", lambda: client.create_trial("t", "uniform", "walk")),
        ):
            with pytest.raises(getattr(adhere, kind), match=words) as caught:
                refused()
            error: adhere.InputError = caught.value
            assert isinstance(error, getattr(adhere_client, kind))
            again = pickle.loads(pickle.dumps(error))
            assert (type(again), str(again), again.field) == (type(error), str(error), error.field)
    with adhere_client.Client(service.url, service.admin) as other:
        with pytest.raises(adhere_client.UnknownError) as alone:
            other.recommend("nowhere", "S-1")
        assert not isinstance(alone.value, adhere.InputError)


def test_the_service_may_ask_for_a_pause() -> None:
    def pause(asked: str) -> float:
        request = adhere_client.request.Request("GET", "/trials", dict)
        attempts = adhere_client.attempts.Attempts(request, "http://h", 8, was_up=True)
        found = attempts.pause_after(adhere_client.request.HttpResponse(429, {"retry-after": asked}, b""))
        assert found is not None
        return found

    assert 7 <= pause("7") < 8
    assert 60 <= pause("86400") < 61
    for unusable in ("Mon, 16 Nov 2026 02:00:00 GMT", "-5", "", "٣"):
        assert pause(unusable) < 1


@both
def test_a_silent_service(make: MakeClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        silence = pytest.raises(adhere.ServiceError, match=f"no answer from {url}: timed out")
        with make(url, SECRET, timeout=0.05, tries=1) as client, silence:
            client.trials()
