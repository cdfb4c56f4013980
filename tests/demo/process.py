"""`adhere demo` as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Whoever starts the tests in the background may have Ctrl-C ignored, and children inherit that.
_HEARS_CTRL_C = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
_COMMAND = (sys.executable, "-c", f"{_HEARS_CTRL_C}; from adhere.cli.main import main; sys.exit(main())", "demo")


@dataclass(frozen=True)
class DemoProcess:
    """A demo that runs; `links` are those that it printed, the statistician's first."""

    process: subprocess.Popen[str]
    url: str
    links: list[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def demo_process(folder: Path, *options: str) -> Iterator[DemoProcess]:
    """A demo whose temporary files are in a folder, once it has said how to sign in."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [*_COMMAND, "--no-browser", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            said: list[str] = []
            while not said or "Ctrl-C" not in said[-1]:
                line = process.stdout.readline()
                assert line, said
                said.append(line.strip())
            links = [line for line in said if line.startswith("http://")]
            yield DemoProcess(process, links[0].partition("/app")[0], links)
        finally:
            process.kill()
