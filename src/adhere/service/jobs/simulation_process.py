"""The code of a simulation's process, which evaluates a design and writes the results to files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from adhere.errors import InputError
from adhere.policies import import_policies
from adhere.processors import usable_processors
from adhere.service.jobs.simulation_files import SimulationFiles, SimulationProgress

_BETWEEN_WRITES = 0.1  # seconds


def start(folder: str, imports: Sequence[Path]) -> Callable[..., None]:
    """Import the user's own policies, and return the function that simulates a design."""
    for file in imports:
        import_policies(file)
    return partial(_simulate, SimulationFiles(Path(folder)))


def _simulate(files: SimulationFiles, total: int, *given: Any) -> None:
    """Evaluate a design in its scenarios, with a number of trials and a seed."""
    from adhere.evaluation.evaluate import evaluate

    n_threads = max(1, usable_processors() - 1)  # one core is left for the live trials
    found = evaluate(*given, n_threads=n_threads, progress=_Progress(files, total))
    files.write("results", msgspec.json.encode(found.to_json()))
    try:  # the report's figures need optional packages
        files.write("report", found.to_html().encode())
    except (ImportError, InputError) as error:
        files.write("failure", f"the report cannot be made: {error}".encode())


class _Progress:
    """A writer of the simulation's progress, which writes a few times a second."""

    def __init__(self, files: SimulationFiles, total: int) -> None:
        self._files, self._total, self._next = files, total, 0.0

    def announce(self, message: str) -> None:
        """Write the name of the work before the first patient."""
        self._write(SimulationProgress(0, self._total, message))

    def advance_to(self, n_patients: int) -> None:
        """Write the number of simulated patients."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_WRITES
            self._write(SimulationProgress(n_patients, self._total))

    def _write(self, progress: SimulationProgress) -> None:
        self._files.write("progress", msgspec.json.encode(progress))
