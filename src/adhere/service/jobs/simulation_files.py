"""The files of a simulation, which all processes of the service share.

The process of the service that was asked for it writes `state`, the simulation's own process the other files.
"""

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

State: TypeAlias = Literal["waiting", "running", "done", "failed", "stopped"]
SILENT_SECONDS = 30.0  # after which whoever looks after a simulation is gone


class SimulationState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a simulation: its owner, when it was asked for (in seconds), and why it failed."""

    token: int
    n_trials: int
    seed: int
    state: State
    asked_at: float = 0.0
    reason: str = ""
    name: str = ""  # of the design

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")


class SimulationProgress(msgspec.Struct, frozen=True, omit_defaults=True):
    """So many patients are simulated, of at most so many; `doing` is what comes before them, as compiling."""

    done: int = 0
    total: int = 0
    doing: str = ""


class SimulationFiles:
    """The folder of one simulation; every file is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, int(folder.name)

    @property
    def state(self) -> SimulationState | None:
        """Where it stands; None if it is gone."""
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
        """Whether it waits or runs."""
        found = self.state
        return found is not None and found.is_active

    def touch(self) -> None:
        """Show that somebody still looks after it."""
        (self.folder / "state").touch()

    @property
    def progress(self) -> SimulationProgress:
        """How far it is."""
        try:
            return msgspec.json.decode((self.folder / "progress").read_bytes(), type=SimulationProgress)
        except OSError:
            return SimulationProgress()

    @property
    def is_to_stop(self) -> bool:
        """Whether somebody asked to stop it."""
        return (self.folder / "stop").exists()

    def ask_to_stop(self) -> None:
        """Ask whoever looks after it to stop it."""
        self.write("stop", b"")

    def age(self) -> float:
        """The seconds since it last changed."""
        return time.time() - (self.folder / "state").stat().st_mtime

    def delete(self) -> None:
        """Forget it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name: str, data: bytes) -> None:
        """Write a file as a whole."""
        temporary = self.folder / f".{name}"
        temporary.write_bytes(data)
        temporary.replace(self.folder / name)

    def read(self, name: Literal["results", "report", "failure"]) -> bytes:
        """The results in JSON, the report page, or why it could not be made; empty until it is there."""
        with suppress(FileNotFoundError):
            return (self.folder / name).read_bytes()
        return b""


def all_in(folder: Path) -> list[tuple[SimulationFiles, SimulationState]]:
    """Every simulation that has files in a folder, and where it stands."""
    found = [SimulationFiles(file.parent) for file in folder.glob("*/state")]
    return [(files, state) for files in found if (state := files.state) is not None]
