"""What the service takes of a machine: seconds until it is ready, and memory at the start and under load.

    python -m benchmarks.service.footprint

prints a table of docs/cards/sizing.md. A cold start has an empty compile cache, as after an installation or upgrade.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.pages import table
from benchmarks.service.load import Generator
from benchmarks.service.measuring import Server, ServerError, free_port, stop
from benchmarks.service.subjects import BOUNDED, THOMPSON, Driven, adhere_command, prepare

_PATIENCE = 300.0
_PAIRS = 10_000
_TRIALS = {"thompson": THOMPSON, "bounded": BOUNDED}


@contextmanager
def _ready(file: Path, cache: Path) -> Iterator[tuple[Server, float]]:
    """The service, and the seconds until GET /readyz succeeded."""
    port, begin = free_port(), time.perf_counter()
    environment = {**os.environ, "ADHERE_CACHE_DIR": str(cache)}
    process = subprocess.Popen(adhere_command(file, port), stdout=subprocess.DEVNULL, env=environment)
    try:
        while not _is_ready(port):
            if process.poll() is not None or time.perf_counter() - begin > _PATIENCE:
                raise ServerError("the service did not become ready")
            time.sleep(0.01)
        yield Server(process, port), time.perf_counter() - begin
    finally:
        stop(process)


def _is_ready(port: int) -> bool:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)) as connection:
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False


def _row(start: str, seconds: float, server: Server) -> list[str]:
    return [start, f"{seconds:.1f} s", f"{server.cpu_seconds:.1f} s", _megabytes(server)]


def _megabytes(server: Server) -> str:
    return f"{server.rss / 1e6:.0f} MB"


def main() -> None:
    """Measure and print."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="adhere-footprint-") as work:
        folder = Path(work)
        generator = Generator.compiled_in(folder)
        prepare(folder / "empty.db", {})
        with _ready(folder / "empty.db", folder / "cache") as (server, seconds):
            rows.append(_row("no trial", seconds, server))
        file = folder / "trials.db"
        token = prepare(file, _TRIALS)
        for start in ("cold", "warm"):
            with _ready(file, folder / "cache") as (server, seconds):
                rows.append(_row(f"two trials, {start}", seconds, server))
                if start == "warm":
                    Driven(generator, server, token).load(list(_TRIALS), pairs=_PAIRS)
                    rows.append([f"the same after {2 * _PAIRS:,} requests", "", "", _megabytes(server)])
    print(table(["start", "ready after", "of the processor", "memory (RSS)"], rows))


if __name__ == "__main__":
    main()
