"""The process of one simulation, from within: it evaluates a design with low priority and writes what it finds.

It ends when its input does, as it does however the service ends; then it leaves no file behind.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import msgspec

from adhere.errors import InputError
from adhere.processors import usable_processors
from adhere.service.jobs.job_process import NICENESS
from adhere.service.jobs.simulation_files import SimulationFiles, SimulationProgress, all_in

if TYPE_CHECKING:
    from adhere.evaluation.evaluation import Evaluation

_BETWEEN_WRITES = 0.1  # seconds


def main(folder: str) -> None:
    """Do what the parent sends, then end."""
    os.nice(NICENESS)
    os.umask(0o077)
    # What ends the service may be sent to all its processes; this one ends with its input.
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    requests = os.fdopen(os.dup(0), "rb")
    try:
        design, scenarios, n_trials, seed, imports, total = pickle.load(requests)
    except (EOFError, pickle.UnpicklingError):  # the service was killed before it had sent all of it
        _end_with(requests, folder)
    threading.Thread(target=_end_with, args=(requests, folder), daemon=True).start()
    files = SimulationFiles(Path(folder))
    try:
        from adhere.evaluation.evaluate import evaluate
        from adhere.policies import import_policies

        for file in imports:
            import_policies(file)
        n_threads = max(1, usable_processors() - 1)  # one core stays with the trials that run
        found = evaluate(design, scenarios, n_trials, seed, n_threads=n_threads, progress=_Progress(files, total))
    except InputError as error:
        files.write("failure", str(error).encode())
        sys.exit(1)
    files.write("results", msgspec.json.encode(found.to_json()))
    _write_report(files, found)


def _write_report(files: SimulationFiles, found: Evaluation) -> None:
    """The page about it, where what draws its figures is installed."""
    try:
        files.write("report", found.to_html().encode())
    except (ImportError, InputError) as error:
        files.write("failure", f"the report cannot be made: {error}".encode())


class _Progress:
    """Writes how far the simulation is, a few times a second."""

    def __init__(self, files: SimulationFiles, total: int) -> None:
        self._files, self._total, self._next = files, total, 0.0

    def announce(self, message: str) -> None:
        """Write what is done before the first patient."""
        self._write(SimulationProgress(0, self._total, message))

    def advance_to(self, n_patients: int) -> None:
        """Write how many patients are done."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_WRITES
            self._write(SimulationProgress(n_patients, self._total))

    def _write(self, progress: SimulationProgress) -> None:
        self._files.write("progress", msgspec.json.encode(progress))


def _end_with(requests: BinaryIO, folder: str) -> NoReturn:
    requests.read()
    shutil.rmtree(folder, ignore_errors=True)
    shared = Path(folder).parent
    if not any(all_in(shared)):  # another process of the service makes it again where it needs it
        shutil.rmtree(shared, ignore_errors=True)
    os._exit(0)
