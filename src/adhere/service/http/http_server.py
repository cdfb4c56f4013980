"""The HTTP server of one process: uvicorn with time-outs, a limit on connections, and the signals that end it."""

import asyncio
import logging
import signal
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn

from adhere.errors import InputError
from adhere.files import unreadable
from adhere.service.http.connections import Connections
from adhere.service.http.http_protocol import HttpProtocol
from adhere.service.settings import ServiceSettings

# If the caller ignores SIGHUP, like nohup, the service must survive it.
_HANGUP = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
ENDING_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, *_HANGUP)


def end_by(handler: Callable[[int, FrameType | None], None]) -> None:
    """Call a handler at each signal that ends the service.

    The handler is set before uvicorn sets its own (none for SIGHUP), so that no signal is lost in between. It remains
    after uvicorn has removed its handlers, because uvicorn then raises the ending signal once more.
    """
    if threading.current_thread() is threading.main_thread():  # other threads cannot handle signals
        for number in ENDING_SIGNALS:
            signal.signal(number, handler)


def check_certificate(certificate: str, key: str) -> None:
    """Raise an `InputError` unless both files can be read and belong together."""
    for name, file in (("tls_certificate", certificate), ("tls_key", key)):
        try:
            Path(file).read_bytes()
        except OSError as error:
            raise unreadable(name, file, error) from None
    try:
        # With any password, an encrypted key raises an error. Without a password, OpenSSL would ask on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError("tls_key", key, f"the key of {certificate}") from None
        reason = (error.reason or "unknown").lower().replace("_", " ")
        raise InputError("tls_key", key, f"a key without a password, in PEM as the certificate ({reason})") from None


log = logging.getLogger("adhere.service")


def _nothing() -> None:
    """Do nothing when the server shuts down."""


class HttpServer(uvicorn.Server):
    """A server that runs until SIGTERM, SIGINT or SIGHUP. Open requests are answered first."""

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
        tls = self.config.ssl
        for listening in sockets or []:
            server = await loop.create_server(
                self._make_protocol,
                sock=listening,
                ssl=tls,
                backlog=self.config.backlog,
                ssl_handshake_timeout=self._handshake_seconds if tls is not None else None,
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
            except Exception:  # the next sweep must still run
                log.warning("sweep of connections failed", exc_info=True)

    def _make_protocol(self) -> HttpProtocol:
        return HttpProtocol(self.config, self.server_state, self.lifespan.state, self._connections)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer open requests, then stop."""
        self.lifespan.state.get("on_ending", _nothing)()
        await super().shutdown(sockets)
        self._sweeper.cancel()
