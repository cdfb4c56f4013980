"""uvicorn's HTTP, with three changes: what it cannot read is a problem like others, headers have an end, and an
answer's head and body are sent together, which halves what sending costs.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adhere.service.problems import MEDIA_TYPE, ProblemError

_LARGEST_HEAD = 64 * 1024


class Joining:
    """A transport that keeps back the head of an answer until its body, or the answer's end, comes."""

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


class ProblemProtocol(HttpToolsProtocol):
    """One connection."""

    _in_head = False
    _head_size = 0

    def connection_made(self, transport: Any) -> None:
        """A client has come."""
        super().connection_made(Joining(transport))  # type: ignore[arg-type]

    def on_response_complete(self) -> None:
        """An answer is whole."""
        self.transport.flush()  # type: ignore[attr-defined]
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that does not end would fill the memory."""
        super().data_received(data)
        if self._in_head:
            self._head_size += len(data)
            if self._head_size > _LARGEST_HEAD and not self.transport.is_closing():
                self.send_400_response(f"the request's head is larger than {_LARGEST_HEAD} bytes")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head, self._head_size = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its headers are there."""
        self._in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, and hang up."""
        body = ProblemError("malformed", msg).encoded()
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(f"{head}connection: close\r\n\r\n".encode() + body)
        self.transport.close()
