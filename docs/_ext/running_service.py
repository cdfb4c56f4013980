"""A service for the pages that call one, started in the hidden first cell of a page."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path


def start_service() -> Path:
    """Start a service on a temporary file, and set ADHERE_URL and ADHERE_TOKEN; return its folder, the new cwd."""
    folder = Path(tempfile.mkdtemp(prefix="adhere-page-"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    token_file, log = folder / "admin-token", (folder / "service.log").open("wb")
    command = [sys.executable, "-m", "adhere", "serve", "--data", "trials.db", "--port", str(port)]
    service = subprocess.Popen(
        [*command, "--admin-token-file", str(token_file)], cwd=folder, stdout=log, stderr=subprocess.STDOUT
    )

    def stop() -> None:
        service.terminate()
        service.wait(30)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    url = f"http://127.0.0.1:{port}"
    _wait_until_ready(url, service)
    os.environ["ADHERE_URL"], os.environ["ADHERE_TOKEN"] = url, token_file.read_text().strip()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # for cells with a shell
    os.chdir(folder)
    return folder


def _wait_until_ready(url: str, service: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and service.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"the service did not start: exit status {service.poll()}")
