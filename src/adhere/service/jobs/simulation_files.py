"""The files of a simulation, which all processes of the service share.

The process that received the request writes `state`. The simulation's own process writes the other files.
"""

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

State: TypeAlias = Literal["waiting", "running", "done", "failed", "stopped"]
SILENT_SECONDS = 30.0  # after this silence, the process in charge of a simulation counts as ended


class SimulationState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a simulation: its owner, the time of the request (in seconds), and why it failed."""

    token: int
    n_trials: int
    seed: int
    state: State
    asked_at: float = 0.0
    reason: str = ""
    name: str = ""  # name of the design

    @property
    def is_active(self) -> bool:
        """Return whether the simulation waits or runs."""
        return self.state in ("waiting", "running")


class SimulationProgress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The progress of a simulation in patients. `doing` describes the work before the first patient, such as
    compiling.
    """

    done: int = 0
    total: int = 0
    doing: str = ""


class SimulationFiles:
    """The folder of one simulation. Every file is complete or missing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, int(folder.name)

    @property
    def state(self) -> SimulationState | None:
        """Return the state of the simulation, or None if it is gone."""
        try:
            written, age = (self.folder / "state").read_bytes(), self.age()
        except OSError:
            return None
        found = msgspec.json.decode(written, type=SimulationState)
        if found.is_active and age > SILENT_SECONDS:
            return msgspec.structs.replace(found, state="failed", reason="the process that ran it has ended")
        return found

    @state.setter
    def state(self, found: SimulationState) -> None:
        self.write("state", msgspec.json.encode(found))

    @property
    def is_active(self) -> bool:
        """Return whether the simulation waits or runs."""
        found = self.state
        return found is not None and found.is_active

    def touch(self) -> None:
        """Record that a process still manages the simulation."""
        (self.folder / "state").touch()

    @property
    def progress(self) -> SimulationProgress:
        """Return the progress of the simulation."""
        try:
            return msgspec.json.decode((self.folder / "progress").read_bytes(), type=SimulationProgress)
        except OSError:
            return SimulationProgress()

    @property
    def is_to_stop(self) -> bool:
        """Return whether somebody asked to stop the simulation."""
        return (self.folder / "stop").exists()

    def ask_to_stop(self) -> None:
        """Ask the managing process to stop the simulation."""
        self.write("stop", b"")

    def age(self) -> float:
        """Return the seconds since the last change."""
        return time.time() - (self.folder / "state").stat().st_mtime

    def delete(self) -> None:
        """Delete the simulation."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name: str, data: bytes) -> None:
        """Write a file completely."""
        temporary = self.folder / f".{name}"
        temporary.write_bytes(data)
        temporary.replace(self.folder / name)

    def read(self, name: Literal["results", "report", "failure"]) -> bytes:
        """Return the contents of a file: the results in JSON, the report page, or the reason for a failure. Return no
        bytes until the file exists.
        """
        with suppress(FileNotFoundError):
            return (self.folder / name).read_bytes()
        return b""


def all_in(folder: Path) -> list[tuple[SimulationFiles, SimulationState]]:
    """Return every simulation with files in a folder, and its state."""
    found = [SimulationFiles(file.parent) for file in folder.glob("*/state")]
    return [(files, state) for files in found if (state := files.state) is not None]
