"""The HTTP server of one process: uvicorn's, with time-outs and a cap on connections, that SIGHUP ends too."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from adhere.service.http.connections import Connections
from adhere.service.http.http_protocol import HttpProtocol
from adhere.service.http.signals import ENDING_SIGNALS, is_main_thread
from adhere.service.settings import ServiceSettings

log = logging.getLogger("adhere.service")


def _nothing() -> None:
    """What an application does at the end that has nothing to do."""


class HttpServer(uvicorn.Server):
    """Serves until SIGTERM, SIGINT or SIGHUP; open requests are answered first."""

    def __init__(
        self, config: uvicorn.Config, settings: ServiceSettings, on_started: Callable[[], None] | None = None
    ) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._connections = Connections(settings)
        self._handshake_seconds = settings.head_timeout

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, then listen."""
        await super().startup(sockets=[])
        loop = asyncio.get_running_loop()
        ssl = self.config.ssl
        for listening in sockets or []:
            server = await loop.create_server(
                self._make_protocol,
                sock=listening,
                ssl=ssl,
                backlog=self.config.backlog,
                ssl_handshake_timeout=self._handshake_seconds if ssl is not None else None,
            )
            self.servers.append(server)
        self._sweeper = loop.create_task(self._sweep())
        if self._on_started is not None:
            self._on_started()

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._connections.sweep_every)
            try:
                self._connections.sweep(loop.time())
            except Exception:  # the next sweep must still come
                log.warning("sweep of connections failed", exc_info=True)

    def _make_protocol(self) -> HttpProtocol:
        return HttpProtocol(self.config, self.server_state, self.lifespan.state, self._connections)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer open requests, then stop."""
        self.lifespan.state.get("on_ending", _nothing)()
        await super().shutdown(sockets)
        self._sweeper.cancel()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at SIGHUP too."""
        with super().capture_signals():
            more = set(ENDING_SIGNALS) - set(HANDLED_SIGNALS) if is_main_thread() else set()
            before = {number: signal.signal(number, self.handle_exit) for number in more}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
