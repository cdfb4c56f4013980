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

    def press_enter(self) -> list[str]:
        """Ask for fresh links, and read those of all four people."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [link for _ in self.links for link in _links(self.process, until="http://")]


@contextmanager
def demo_process(folder: Path, *options: str) -> Iterator[DemoProcess]:
    """A demo whose temporary files are in a folder, once it has said how to sign in."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [*_COMMAND, "--no-browser", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        try:
            links = _links(process, until="Ctrl-C")
            yield DemoProcess(process, links[0].partition("/app")[0], links)
        finally:
            process.kill()


def _links(process: subprocess.Popen[str], until: str) -> list[str]:
    """Read what the demo prints until a line with a text, and return the links in it."""
    assert process.stdout is not None
    said: list[str] = []
    while not said or until not in said[-1]:
        line = process.stdout.readline()
        assert line, said
        said.append(line.strip())
    return [line for line in said if line.startswith("http://")]
