"""uvicorn's HTTP, with two changes: what it cannot read is a problem like others, and headers have an end."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adhere.service.problems import MEDIA_TYPE, ProblemError

_LARGEST_HEAD = 64 * 1024


class ProblemProtocol(HttpToolsProtocol):
    """One connection."""

    _in_head = False
    _head_size = 0

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
