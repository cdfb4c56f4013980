"""Where the service under test lives: disks of its own that can be filled, its database, its processes."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from benchmarks.service.measuring import free_port
from tests.store.postgres_server import PostgresServer

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.design.parts import Imputation
from adhere.store import open_store
from adhere.trial.writing.processor import CommandProcessor

ARMS = ("walk", "aspirin")
PLAIN, LATE, BLINDED = "plain", "late", "blinded"
TRIALS = (PLAIN, LATE, BLINDED)
DESCRIPTORS = 256  # what the service may open: few, so that they can be used up
_MEGABYTES = {"database": 600, "cache": 64, "temp": 64}
_PATIENCE = 90.0


class House:
    """A service (two processes on PostgreSQL) and all it stands on."""

    def __init__(self, folder: Path, postgres: PostgresServer | None) -> None:
        self.folder, self.postgres = folder, postgres
        self.database = str(folder / "database" / "trials.db") if postgres is None else postgres.url
        self.ports = [free_port() for _ in range(1 if postgres is None else 2)]
        self.clock = folder / "clock"
        self.clock.write_text("0", encoding="utf-8")
        self.processes: list[subprocess.Popen[bytes] | None] = [None] * len(self.ports)
        self.errors = folder / "stderr"
        self.site, self.statistician = self._prepare()

    def _prepare(self) -> tuple[str, str]:
        store = open_store(self.database)
        processor = CommandProcessor(store)
        impute = Imputation(after_days=0.5, took_nothing=True, reward=0.0)
        for name in TRIALS:
            design = make_design(
                name,
                "thompson/actual",
                ARMS,
                blinded=name == BLINDED,
                repeats=True,
                impute=impute if name == LATE else None,
            )
            processor.create(design)
        tokens = Tokens(store)
        tokens.make("admin", "the soak")
        site = tokens.make("site", "the soak", site="Leeds")[1]
        statistician = tokens.make("statistician", "the soak")[1]
        store.close()
        return site, statistician

    def start(self, number: int = 0) -> None:
        """Start one of the processes."""
        environment = os.environ | {
            "ADHERE_CACHE_DIR": str(self.folder / "cache"),
            "TMPDIR": str(self.folder / "temp"),
            "PYTHONPATH": os.pathsep.join(["src", "."]),
        }
        command = [sys.executable, "-m", "benchmarks.soak.service", self.database, str(self.ports[number])]
        with self.errors.open("ab") as errors:
            self.processes[number] = subprocess.Popen(
                [*command, str(self.clock)],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)),
            )

    def end(self, number: int, how: signal.Signals) -> int:
        """End one of the processes; returns its exit code."""
        process = self.processes[number]
        assert process is not None
        process.send_signal(how)
        return process.wait(_PATIENCE)

    def wait_until_ready(self, number: int, patience: float = _PATIENCE) -> float:
        """Seconds until it says so."""
        begin = time.monotonic()
        while time.monotonic() < begin + patience:
            if self.status(number, "/readyz") == 200:
                return time.monotonic() - begin
            time.sleep(0.05)
        raise TimeoutError(f"not ready within {patience:g} s; see {self.errors}")

    def status(self, number: int, path: str, timeout: float = 5.0) -> int | None:
        """The status of a GET; None if nobody answers."""
        connection = HTTPConnection("127.0.0.1", self.ports[number], timeout=timeout)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()

    @contextmanager
    def full(self, disk: str) -> Iterator[None]:
        """Fill a disk for as long as the block lasts."""
        ballast = self.folder / disk / "ballast"
        try:
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 16))
            with suppress(OSError), ballast.open("ab", buffering=0) as file:
                while True:
                    file.write(bytes(16))
            yield
        finally:
            ballast.unlink(missing_ok=True)


@contextmanager
def house(on_postgres: bool) -> Iterator[House]:
    """A house with disks in memory (for which one must be root), taken down at the end."""
    folder = Path(tempfile.mkdtemp(prefix="adhere-soak-"))
    folder.chmod(0o755)
    postgres: PostgresServer | None = None
    built: House | None = None
    mounted: list[Path] = []
    try:
        for disk, megabytes in _MEGABYTES.items():
            (folder / disk).mkdir()
            options = f"size={megabytes}m,mode=0755"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder / disk)], check=True)
            mounted.append(folder / disk)
        if on_postgres:
            postgres = _postgres_in(folder / "database")
        built = House(folder, postgres)
        yield built
    finally:
        for process in built.processes if built is not None else ():
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        if postgres is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                postgres.stop()
        for disk in mounted:
            subprocess.run(["umount", "-l", str(disk)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_in(folder: Path) -> PostgresServer:
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        server = PostgresServer()
    finally:
        tempfile.tempdir = before
    server.prepare()
    server.start()
    return server
