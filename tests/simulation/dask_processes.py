"""A real Dask scheduler and real workers, each a process of its own that a test may kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# One death of a worker is forgiven, the second at the same task is not.
ENVIRONMENT = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "DASK_DISTRIBUTED__SCHEDULER__DASHBOARD__ENABLED": "false",
}

NO_ADHERE = """raise ModuleNotFoundError("No module named 'adhere'", name="adhere")\n"""


class DaskProcesses:
    """A scheduler, which has no adhere and needs none, and its workers by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.without_adhere = folder / "without"
        (self.without_adhere / "adhere").mkdir(parents=True)
        (self.without_adhere / "adhere" / "__init__.py").write_text(NO_ADHERE)
        about = folder / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(about))
        self.scheduler = self._start("scheduler", *options, first_on_path=self.without_adhere)
        deadline = time.monotonic() + 30
        while not about.is_file() or not about.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address: str = json.loads(about.read_text())["address"]

    def add(self, *names: str, first_on_path: Path | None = None) -> None:
        """Start workers and wait until all are there."""
        from distributed import Client

        for name in names:
            options = (self.address, "--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard")
            self.workers[name] = self._start("worker", *options, first_on_path=first_on_path)
        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            deadline = time.monotonic() + 30
            while not set(names) <= {one["name"] for one in client.scheduler_info()["workers"].values()}:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def kill(self, name: str) -> None:
        """As the machine's failure would."""
        self.workers[name].kill()
        self.workers.pop(name).wait()

    def _start(self, kind: str, *options: str, first_on_path: Path | None = None) -> subprocess.Popen[bytes]:
        # Workers find what the tests define, and keep what is sent to them in the test's folder.
        path = [str(first_on_path)] if first_on_path else []
        own = {"PYTHONPATH": os.pathsep.join([*path, *sys.path]), "XDG_CACHE_HOME": str(self._folder)}
        environment = {**os.environ, **ENVIRONMENT, **own}
        command = [sys.executable, "-m", "dask", kind, *options]
        return subprocess.Popen(
            command, cwd=self._folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def stop(self) -> None:
        """End them all."""
        for process in (*self.workers.values(), self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def dask_processes(folder: Path, *workers: str) -> Iterator[DaskProcesses]:
    """A cluster with these workers, for as long as the block takes."""
    processes = DaskProcesses(folder)
    try:
        processes.add(*workers)
        yield processes
    finally:
        processes.stop()
