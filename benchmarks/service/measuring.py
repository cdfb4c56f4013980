"""Start a server, wait until it answers, see what it takes of the machine, stop it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class ServerError(Exception):
    """A server did not start, or did not stop."""


@dataclass(frozen=True)
class Server:
    """A server under way."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def rss(self) -> int:
        """Bytes of memory it has now."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="utf-8").split()[1]) * _PAGE

    @property
    def cpu_seconds(self) -> float:
        """What it has taken of the processors since it began, all threads together."""
        # The second field, the program's name, may have spaces; what follows its closing bracket has not.
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def serving(command: Sequence[str], port: int, patience: float = 60.0) -> Iterator[Server]:
    """Start a server that will listen on this port, wait until GET /healthz succeeds, stop it at the end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait_until_healthy(process, port, patience)
        yield Server(process, port)
    finally:
        stop(process, patience)


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, patience: float) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if process.poll() is not None:
            raise ServerError(f"the server ended with {process.returncode} before it answered")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.02)
    raise ServerError(f"the server did not answer GET /healthz on port {port} within {patience} s")


def stop(process: subprocess.Popen[bytes], patience: float = 60.0) -> None:
    """Ask it to end, and insist if it does not."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise ServerError(f"the server did not end within {patience} s of SIGTERM") from None
