"""A transport that sends the head and the body of a response together."""

from __future__ import annotations

from typing import Any


class BufferedTransport:
    """A transport that holds the head of a response back until its body, or its end, comes."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._head = b""
        self.is_closing = transport.is_closing  # asked at every request, for which __getattr__ is slow

    def write(self, data: bytes) -> None:
        """Send, unless it is a head; an interim one (100 Continue) is not held back, the client waits for it."""
        if not self._head and data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n") and data[9:10] != b"1":
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
