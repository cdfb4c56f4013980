"""uvicorn's HTTP protocol with three changes: invalid HTTP is answered with a problem document, the request's head is
limited in size, and a response's head and body are sent together, which halves the cost of sending.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adhere.service.problems import MEDIA_TYPE, ProblemError

_MAX_HEAD_BYTES = 64 * 1024


class BufferedTransport:
    """A transport that holds the head of a response back until its body, or its end, comes."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: bytes) -> None:
        """Send, unless it is a head."""
        if not self._head and data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n"):
            self._head = data
        else:
            data, self._head = self._head + data, b""
            self._transport.write(data)

    def flush(self) -> None:
        """Send a head that no body follows."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)

    def close(self) -> None:
        """Send what is left, and close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _in_head = False
    _head_size = 0

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(BufferedTransport(transport))  # type: ignore[arg-type]

    def on_response_complete(self) -> None:
        """A response is complete."""
        self.transport.flush()  # type: ignore[attr-defined]
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """Receive data; a head without end would fill the memory."""
        super().data_received(data)
        if self._in_head:
            self._head_size += len(data)
            if self._head_size > _MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response(f"the request's head is larger than {_MAX_HEAD_BYTES} bytes")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head, self._head_size = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The headers are complete."""
        self._in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP, and close the connection."""
        body = ProblemError("malformed", msg).encoded()
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(f"{head}connection: close\r\n\r\n".encode() + body)
        self.transport.close()
