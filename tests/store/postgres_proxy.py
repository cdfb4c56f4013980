"""A proxy before PostgreSQL that loses what the server says to a commit, as a network may."""

from __future__ import annotations

import select
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

_COMMIT = b"COMMIT\0"  # the whole statement, or what the server says of it: not READ COMMITTED
_WRITES = b"SET LOCAL synchronous_commit"  # how a transaction begins that is not a view

Fault = Literal["lose the answer", "lose the commit", "stall"]


class PostgresProxy:
    """Forwards connections to the server of an address. With a `fault`, the next commit suffers it, once.

    A commit is known by its text, which is sent only when it is prepared: `hang_up` makes the client connect anew.
    While it is `silent`, new connections are accepted and not forwarded.
    """

    def __init__(self, url: str, port: int = 0) -> None:
        query = parse_qs(urlsplit(url).query)
        folder = query["host"][0]
        self._server = str(Path(folder) / ".s.PGSQL.5432")
        self._listening = socket.create_server(("127.0.0.1", port))
        port = self._listening.getsockname()[1]
        self.url = url.replace(f"host={folder}", f"host=127.0.0.1&port={port}")
        self.fault: Fault | None = None
        self.silent = False
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def hang_up(self) -> None:
        """End all connections."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            _close(*pair)

    def close(self) -> None:
        """Forward no more."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # or the thread that accepts would keep it open
        self._listening.close()
        self.hang_up()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listening.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                if self.silent:
                    self._pairs.append((client, server))
                    continue
                server.connect(self._server)
                self._pairs.append((client, server))
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        writes = False
        with suppress(OSError, ValueError):
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = _received(source)
                    writes |= source is client and _WRITES in data
                    if source is client and writes and _COMMIT in data and self.fault is not None:
                        self._suffer(client, server, data)
                        raise OSError
                    (server if source is client else client).sendall(data)
        _close(client, server)

    def _suffer(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        fault, self.fault = self.fault, None
        if fault == "lose the commit":
            return
        server.sendall(data)
        said = b""
        while _COMMIT not in said:
            for source in select.select([client, server], [], [])[0]:
                data = _received(source)
                if source is client:
                    server.sendall(data)
                else:
                    said += data
        if fault == "stall":
            threading.Event().wait(5.0)  # longer than the client does


def _received(source: socket.socket) -> bytes:
    data = source.recv(1 << 16)
    if not data:
        raise OSError
    return data


def _close(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
