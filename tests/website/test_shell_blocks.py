"""Every block of shell commands on the site, run page by page as it stands.

The blocks of a page run in order in one shell, in an empty folder. A block with a file's name for a caption is
written to that file first. A block of text, JSON or CSV directly below commands is what they print, where … stands
for anything within a line. Pages for the operators of a machine run in tests/deploy/test_operations_pages.py.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from .pages import DOCS, MACHINE_PAGES, Block, blocks, written_pages

pytestmark = pytest.mark.slow
END = "--- end of block ---"
OUTPUT = ("text", "json", "csv")
ADDRESSES = ("--port 8000", "127.0.0.1:8000", "--port 8786", "127.0.0.1:8786")  # rewritten to free ports
NEEDED = {"curl": "curl", "Rscript": "r-base-core r-cran-jsonlite"}
PAGES = [
    page for page in written_pages() if page not in MACHINE_PAGES and any(one.kind == "sh" for one in blocks(page))
]


def matches(printed: str, expected: str) -> bool:
    """Return whether some output is as expected, where … stands for anything within a line."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("…"))
    return re.fullmatch(pattern, printed.strip()) is not None


def script(page_blocks: list[Block]) -> str:
    """Return the commands of a page, with a mark after each block."""
    lines = []
    for block in page_blocks:
        if block.file is not None:
            lines.append(f"printf '%s' {shlex.quote(block.body)} > {shlex.quote(block.file)}\n")
        elif block.kind == "sh":
            lines.append(f"{block.text}echo {shlex.quote(END)}\n")
    return "".join(lines)


def with_free_ports(text: str, ports: dict[str, int]) -> str:
    for address in ADDRESSES:
        default = re.findall(r"\d{4}", address)[-1]
        text = text.replace(address, f"{address.removesuffix(default)}{ports[default]}")
    return text


def free_ports() -> dict[str, int]:
    with ExitStack() as stack:  # all at once, so that no two are the same
        servers = {name: stack.enter_context(socket.create_server(("127.0.0.1", 0))) for name in ("8000", "8786")}
        return {name: server.getsockname()[1] for name, server in servers.items()}


def run(commands: str, folder: Path) -> tuple[list[str], str, int]:
    """Run commands like a person at a terminal; return what each block printed, the errors and the exit status."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "ADHERE_TOKEN")}
    shell = subprocess.Popen(
        ["bash", "-e", "-u", "-o", "pipefail", "-c", commands],
        cwd=folder,
        env=environment | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, errors = shell.communicate(timeout=400)
    finally:
        with suppress(ProcessLookupError):  # also a service, if the page broke off
            os.killpg(shell.pid, signal.SIGKILL)
    return printed.split(f"{END}\n"), errors, shell.returncode


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_each_block_runs_and_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    page_blocks, ports = blocks(page), free_ports()
    for command, packages in NEEDED.items():
        used = any(re.search(rf"\b{command}\b", block.text) for block in page_blocks if block.kind == "sh")
        if used and shutil.which(command) is None:
            pytest.skip(f"needs {command} (Debian: apt-get install {packages})")
    outputs, errors, status = run(with_free_ports(script(page_blocks), ports), tmp_path)
    printed, n_run = "", 0
    for above, block in zip([None, *page_blocks], page_blocks, strict=False):
        if block.kind == "sh":
            assert n_run < len(outputs) - 1, f"this block failed:\n{block.text}\n{outputs[-1]}\n{errors}"
            printed, n_run = outputs[n_run], n_run + 1
        elif block.kind in OUTPUT and above is not None and above.kind == "sh" and block.follows:
            assert matches(printed, with_free_ports(block.text, ports)), f"{block.text}\n{printed}\n{errors}"
    assert status == 0, errors
