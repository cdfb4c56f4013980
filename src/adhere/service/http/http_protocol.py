"""uvicorn's HTTP protocol with protections against harmful clients.

- Invalid HTTP is answered with a problem document, after the answers to earlier requests.
- The size of a head is limited, and so are chunk extensions and trailers.
- Headers that the service uses are refused after the body.
- Pipelined requests wait unparsed until the earlier requests are answered.
- The head and body of a response are sent together, which halves the cost of sending.
"""

from collections.abc import Sized
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import httptools
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from adhere.service.http.connections import EXTENSION, Connections, Wait
from adhere.service.http.problems import MEDIA_TYPE, ProblemError

USED_HEADERS: Final = frozenset(
    {b"authorization", b"content-type", b"content-length", b"content-encoding", b"idempotency-key"}
)


class BufferedTransport:
    """A transport that delays the head of a response until its body or its end."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._head = b""
        self.is_closing = transport.is_closing  # used at every request, where __getattr__ is too slow

    def write(self, data: bytes) -> None:
        """Send data, but delay a head. The interim head 100 Continue is sent at once; the client waits for it."""
        if not self._head and data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n") and data[9:10] != b"1":
            self._head = data
        else:
            data, self._head = self._head + data, b""
            self._transport.write(data)

    def flush(self) -> None:
        """Send a head without a body."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)

    def close(self) -> None:
        """Send the remaining data, and close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class PipelineFlow(FlowControl):
    """Flow control that stops reading while requests wait for earlier responses."""

    def __init__(self, transport: Any, pipeline: Sized) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        """Resume reading."""
        if not self._pipeline:
            super().resume_reading()


_MAX_HEAD_BYTES = 64 * 1024
_MAX_BESIDE_BODY = 64 * 1024  # allowed bytes of trailers and chunk extensions
_MAX_BESIDE_BYTE = 8  # additional bytes for each byte of the body; a one-byte chunk needs six
_PARSED_AT_ONCE = 4096  # bytes, at most two hundred requests
_NOT_IN_TRAILERS = USED_HEADERS | {b"host", b"transfer-encoding"}

# The part of the latest request that has arrived.
_ALL: Final = 0
_PART_OF_HEAD: Final = 1
_PART_OF_BODY: Final = 2  # the body may not have begun


class HttpProtocol(HttpToolsProtocol):
    """A connection that speaks HTTP."""

    _come = _ALL
    _n_requests = 0  # number of requests that have begun
    _head_size = 0
    _n_hosts = 0  # Host headers in the latest head
    _body_size = 0  # bytes of the latest request's body so far
    _beside_body = 0  # bytes of chunk extensions and trailers, from the second piece on
    _running: RequestResponseCycle | None = None  # the current request, or the last one
    _unparsed = b""
    _trailer = b""  # the name of a forbidden trailer
    _refusal: ProblemError | None = None  # sent when the earlier requests are answered
    _ending = False  # whether the refusal was sent
    _n_resumed = 0  # how often the client resumed reading

    def __init__(
        self, config: uvicorn.Config, server_state: ServerState, app_state: dict[str, Any], connections: Connections
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._registry = connections
        self._extensions: Any = {EXTENSION: {"authenticate": partial(connections.authenticate, self)}}

    def connection_made(self, transport: Any) -> None:
        """Register a new connection."""
        super().connection_made(BufferedTransport(transport))  # type: ignore[arg-type]
        self.flow = PipelineFlow(transport, self.pipeline)
        self._registry.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after the connection has closed."""
        self._registry.remove(self)
        if self._running is not None:  # uvicorn notifies only the latest request, which may still be waiting
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received data."""
        if self._refusal is not None:
            return
        self._unparsed = self._unparsed + data if self._unparsed else data
        self._parse()

    def _parse(self) -> None:
        """Parse the received data until a request must wait for earlier responses."""
        while self._unparsed and not self.pipeline and self._refusal is None and not self.transport.is_closing():
            data, self._unparsed = self._unparsed[:_PARSED_AT_ONCE], self._unparsed[_PARSED_AT_ONCE:]
            n_requests, body_size = self._n_requests, self._body_size
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade:
                pass  # the request is answered without a change of protocol
            except httptools.HttpParserError:
                self._refuse(ProblemError("malformed", "the request is not valid HTTP"))
            if self._come == _PART_OF_HEAD:
                # The piece in which a head begins is not counted, because it may contain many earlier requests.
                self._head_size = self._head_size + len(data) if self._n_requests == n_requests else 0
                if self._head_size > _MAX_HEAD_BYTES:
                    detail = f"the request's head is larger than {_MAX_HEAD_BYTES} bytes"
                    self._refuse(ProblemError("malformed", detail))
            elif self._come == _PART_OF_BODY and self._n_requests == n_requests:
                self._beside_body += len(data) - (self._body_size - body_size)
                if self._beside_body > _MAX_BESIDE_BODY + _MAX_BESIDE_BYTE * self._body_size:
                    self._refuse(ProblemError("too-large", "chunk extensions or trailers take too much space"))

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._come, self._trailer = _PART_OF_HEAD, b""
        self._n_hosts = self._body_size = self._beside_body = 0
        self._n_requests += 1
        super().on_message_begin()
        self.scope["extensions"] = self._extensions

    def on_header(self, name: bytes, value: bytes) -> None:
        """Check a complete header or trailer; the parser does not distinguish them."""
        name = name.lower()
        if self._come == _PART_OF_HEAD:
            self.headers.append((name, value))
            if name == b"host":
                self._n_hosts += 1
            elif name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
        elif name in _NOT_IN_TRAILERS:
            self._trailer = name
            self.headers.clear()  # a handler that has not begun yet will find no token

    def on_headers_complete(self) -> None:
        """Handle a complete head."""
        if not _has_path(self.url):
            self._refuse(ProblemError("malformed", "the request's target has no path", field="path"))
        elif self._n_hosts != 1 and (self._n_hosts or self.parser.get_http_version() != "1.0"):
            self._refuse(ProblemError("malformed", "send the header Host once", field="Host"))
        if self._refusal is None:
            self._come = _PART_OF_BODY
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Receive a part of a body."""
        self._body_size += len(body)
        if self._refusal is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle a complete request."""
        if self._trailer:
            name = self._trailer.decode()
            detail = f"{name} came after the body; send it before the body"
            self._refuse(ProblemError("malformed", detail, field=name))
        elif self._refusal is None:
            super().on_message_complete()
        self._come = _ALL

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Finish a response, so that the next request may be handled."""
        self.transport.flush()  # type: ignore[attr-defined]
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._refusal is not None:
            self._send_refusal(self._refusal)
            return
        self._parse()
        self.flow.resume_reading()

    def _refuse(self, problem: ProblemError) -> None:
        """Answer the latest request with a problem, after the earlier answers, and close the connection."""
        if self._refusal is not None:
            return
        self._refusal = problem
        if self._come != _PART_OF_BODY:
            waits = self.cycle is not None and not self.cycle.response_complete
        elif waits := bool(self.pipeline):
            self.pipeline.popleft()  # the refused request must not be handled
        if not waits:
            self._send_refusal(problem)

    def resume_writing(self) -> None:
        """Continue after the client has read more data."""
        self._n_resumed += 1
        super().resume_writing()

    def waiting(self) -> tuple[Wait, int] | None:
        """Return what the connection waits for, and a number that grows with progress. Return None while a request is
        handled.
        """
        if self._ending or self.transport.is_closing():
            unsent = self.transport.get_write_buffer_size()
            return ("reading", -unsent) if unsent else ("end", 0)
        if self.flow.write_paused:
            return "reading", self._n_resumed
        if self._come == _PART_OF_BODY and not self.flow.read_paused:
            return "body", self._n_requests
        if self.cycle is not None and not self.cycle.response_complete:
            return None
        if self._come == _PART_OF_HEAD:
            return "head", self._n_requests
        return "next" if self._n_requests else "first", self._n_requests

    def time_out(self, wait: Wait) -> None:
        """Close the connection because the client took too long."""
        if wait in ("head", "body"):
            self._refuse(ProblemError("timeout", f"the rest of the request's {wait} did not come in time"))
        elif wait in ("first", "next"):
            self.transport.close()
        else:
            self.transport.abort()

    def turn_away(self, problem: ProblemError) -> None:
        """Answer with a problem before any request, and close."""
        self.transport.write(_encoded(problem))
        self.transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def _send_refusal(self, problem: ProblemError) -> None:
        # A request with a bad body may already have been answered, at least partly.
        if self._come != _PART_OF_BODY or not self.cycle.response_started:
            self.transport.write(_encoded(problem))
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._ending = True
        if self.transport.can_write_eof():
            # If the socket were closed while data arrives, the client would get a reset before it reads the answer.
            self.transport.write_eof()
            self._unparsed = b""
            self.flow.resume_reading()
        else:
            self.transport.close()


def _has_path(target: bytes) -> bool:
    if target.startswith(b"/"):
        return True  # the parser passes only ASCII
    try:
        return httptools.parse_url(target).path is not None
    except httptools.HttpParserInvalidURLError:
        return False


def _encoded(problem: ProblemError) -> bytes:
    """Return a complete response with a problem."""
    body = problem.encoded()
    lines = {"content-type": MEDIA_TYPE, "content-length": len(body), "connection": "close", **problem.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n{head}\r\n".encode() + body
