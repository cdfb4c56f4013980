"""docs/curl.md, run as it stands: each block of commands gives the output that is printed below it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/curl.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
END = "--- end of block ---"


def matches(printed: str, expected: str) -> bool:
    """Whether some output is as expected, where … stands for anything within a line."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("…"))
    return re.fullmatch(pattern, printed.strip()) is not None


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl (Debian: apt-get install curl)")
def test_the_walk_with_curl(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    blocks = [(kind, text.replace("8000", port)) for kind, text in BLOCK.findall(PAGE.read_text())]
    commands = "".join(f"{text}echo '{END}'\n" for kind, text in blocks if kind == "sh")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.Popen(
        ["bash", "-e", "-u", "-o", "pipefail", "-c", commands],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, errors = shell.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):  # also the service, if the walk broke off
            os.killpg(shell.pid, signal.SIGKILL)
    outputs = iter(printed.split(END))
    output = ""
    for kind, text in blocks:
        if kind == "sh":
            output = next(outputs)
        else:
            assert matches(output, text), f"{text}\n{output}\n{errors}"
    assert shell.returncode == 0, errors
