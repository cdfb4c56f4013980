"""The process of one simulation, from without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from adhere.service.jobs import simulation_process
from adhere.service.jobs.simulation_files import SimulationFiles


def started(files: SimulationFiles, request: bytes) -> subprocess.Popen[bytes]:
    """Start it and send it what to simulate."""
    package = Path(__file__).parents[3]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths), "POLARS_MAX_THREADS": "1", "TMPDIR": str(files.folder)}
    code = f"from {simulation_process.__name__} import main; main({str(files.folder)!r})"
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ | environment,
    )
    assert process.stdin is not None
    process.stdin.write(request)
    process.stdin.flush()
    return process


def has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it has ended by itself after so many seconds."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def end(process: subprocess.Popen[bytes]) -> None:
    """End it, whatever it does."""
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()
