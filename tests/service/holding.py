"""The process of a simulation, held still by a test: how long a simulation takes depends on the machine."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from adhere.service.jobs.simulation_files import SimulationFiles

from .serving import wait_until

_SLICE = 0.01  # seconds; far less than the shortest simulation of these tests


def simulations_of(parent: int) -> dict[int, int]:
    """The simulations that run for a process: the process of each by its number."""
    return {files.id: one for one in _children(parent) if (files := files_of(one))}


def files_of(process: int) -> SimulationFiles | None:
    """The files of the simulation that a process runs; None where it does not run one."""
    try:
        if b"simulation_process" not in Path(f"/proc/{process}/cmdline").read_bytes():
            return None
        environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    folders = [one.decode().partition("=")[2] for one in environment if one.startswith(b"TMPDIR=")]
    return SimulationFiles(Path(folders[0])) if folders else None


def hold(parent: int, number: int | None = None) -> int:
    """Wait for a simulation of a process (its only one) to be started; hold it before it has done anything."""

    def started() -> list[int]:
        return [process for one, process in simulations_of(parent).items() if number in (None, one)]

    wait_until(lambda: bool(started()), 120)  # on a busy machine: simulations are nice
    (process,) = started()
    os.kill(process, signal.SIGSTOP)
    return process


def patients_done(process: int) -> int:
    """How many patients a simulation that is held has simulated."""
    files = files_of(process)
    assert files is not None
    return files.progress.done


def release_until_more_are_done(process: int) -> int:
    """Let a simulation go on for a moment at a time until it says that it has simulated more; it is held again."""
    before, until = patients_done(process), time.monotonic() + 240
    while patients_done(process) <= before:
        assert time.monotonic() < until, "it simulated nothing"
        os.kill(process, signal.SIGCONT)
        time.sleep(_SLICE)
        os.kill(process, signal.SIGSTOP)
    return patients_done(process)


def release(process: int) -> None:
    """Let it go on."""
    os.kill(process, signal.SIGCONT)


def _children(parent: int) -> list[int]:
    return [
        int(number) for file in Path(f"/proc/{parent}/task").glob("*/children") for number in file.read_text().split()
    ]
