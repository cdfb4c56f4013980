"""Simulate designs in a separate process, one at a time. Others wait, and results are stored for a while."""

import logging
import secrets
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from adhere.design.design import Design
from adhere.errors import InputError, UnavailableError, UnknownError
from adhere.memory import is_shortage
from adhere.service.http.problems import ProblemError
from adhere.service.jobs.child_process import JobProcessError, reap, reply_of, send, spawn
from adhere.service.jobs.jobs import policy_files
from adhere.service.jobs.simulation_files import SimulationFiles, SimulationState, State, all_in
from adhere.service.temporary_folders import TemporaryFolder, kept, try_lock
from adhere.service.threads import start_thread

_MAX_WAITING = 8
_MAX_KEPT, _KEPT_SECONDS = 20, 3600.0
_MAX_SECONDS = 180.0  # time limit of a simulation, including compiling
_POLL_SECONDS = 0.1
_MODULE = "adhere.service.jobs.simulation_process"  # not imported here, because it loads the policies' compiler

log = logging.getLogger("adhere.service")


class Simulations:
    """The simulations of a service. Its processes share the given folder; without one, a temporary folder is used."""

    def __init__(self, folder: str | None = None) -> None:
        self._given, self._own = folder, TemporaryFolder("adhere-simulations-")
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()

    def start(
        self, token: int, design: Design, scenarios: Mapping[str, Any] | None, n_trials: int, seed: int, total: int
    ) -> int:
        """Simulate a design for a token, which may have one simulation at a time. Return the simulation's number."""
        self._check_room(token)
        folder = self._folder / str(secrets.randbelow(9 * 10**14) + 10**14)  # a number that no other process draws
        folder.mkdir(mode=0o700)
        files = SimulationFiles(folder)
        begun = SimulationState(token, n_trials, seed, "waiting", time.time(), name=design.name)
        files.state = begun
        job = (total, design, scenarios, n_trials, seed)
        thread = threading.Thread(target=self._look_after, args=(files, begun, job), name=f"simulation {files.id}")
        try:
            start_thread(thread)
        except UnavailableError:
            files.delete()  # otherwise the token would have to wait for it
            raise
        self._threads = [*(one for one in self._threads if one.is_alive()), thread]
        return files.id

    def find(self, token: int, number: int) -> tuple[SimulationFiles, SimulationState]:
        """Return a simulation of a token, and its state."""
        files = SimulationFiles(self._folder / str(number))
        state = files.state
        if state is None or state.token != token:
            raise UnknownError("simulation", number, "one that this token started, within the last hour")
        return files, state

    def of_token(self, token: int) -> list[tuple[SimulationFiles, SimulationState]]:
        """Return the stored simulations of a token with their states, newest first."""
        own = [one for one in all_in(self._folder) if one[1].token == token]
        return sorted(own, key=lambda one: one[1].asked_at, reverse=True)

    def stop(self, token: int, number: int) -> None:
        """Stop a waiting or running simulation, or delete an ended one."""
        files, state = self.find(token, number)
        if not state.is_active:
            files.delete()
            return
        files.ask_to_stop()
        until = time.monotonic() + 1.0
        while time.monotonic() < until and files.is_active:
            time.sleep(0.02)

    def close(self) -> None:
        """End the running simulation and delete all files."""
        self._closing.set()
        for thread in self._threads:
            thread.join()
        self._own.delete()

    @property
    def _folder(self) -> Path:
        return Path(kept(self._given) if self._given else self._own.path)

    def _check_room(self, token: int) -> None:
        """Refuse a token's second simulation, and any simulation while too many wait. Delete the oldest ended
        simulations.
        """
        known = all_in(self._folder)
        active = [state for _, state in known if state.is_active]
        if any(state.token == token for state in active):
            raise _too_many("a simulation for this token is not done yet; stop it, or wait for it")
        if len(active) > _MAX_WAITING:
            raise _too_many("too many simulations are waiting for their turn; try again in a minute")
        ended = sorted((files.age(), files.id, files) for files, state in known if not state.is_active)
        for place, (age, _, files) in enumerate(ended, start=1):
            if place >= _MAX_KEPT or age > _KEPT_SECONDS:
                files.delete()

    def _look_after(self, files: SimulationFiles, begun: SimulationState, job: tuple[Any, ...]) -> None:
        """Wait for the simulation's turn, run it, and record how it ended."""

        def note(state: State, reason: str = "") -> None:
            files.state = replace(begun, state=state, reason=reason)

        try:
            with self._turn(files) as has_turn:
                if not has_turn:
                    note("stopped")
                    return
                note("running")
                process = spawn(_MODULE, str(files.folder), is_shared=True)
                try:
                    send(process, (str(files.folder), policy_files()))
                    send(process, job)
                    note(*self._ended(files, process))
                except BaseException:
                    reap(process)
                    raise
            self._await_report(files, process)  # the next simulation may begin
        except Exception as error:
            if not isinstance(error, OSError) and not is_shortage(error):
                raise
            lack = getattr(error, "strerror", None) or "memory"
            while not self._closing.is_set():
                with suppress(OSError, MemoryError, RuntimeError):  # repeated until the state can be written
                    if files.folder.exists():
                        note("failed", f"the machine is out of resources ({lack})")
                    return
                time.sleep(_POLL_SECONDS)  # unlike Event.wait, this allocates no lock

    @contextmanager
    def _turn(self, files: SimulationFiles) -> Iterator[bool]:
        """Hold the lock shared by all processes. Yield False if the simulation was stopped before its turn."""
        with (self._folder / "turn").open("wb") as lock:  # released however this process ends
            while not self._is_to_stop(files):
                if self._is_next(files) and try_lock(lock):
                    yield True
                    return
                files.touch()
                self._closing.wait(_POLL_SECONDS)
            yield False

    def _is_next(self, files: SimulationFiles) -> bool:
        """Return whether no waiting simulation was requested earlier."""
        waiting = [(state.asked_at, one.id) for one, state in all_in(self._folder) if state.state == "waiting"]
        return min(waiting, default=(0.0, files.id))[1] == files.id

    def _ended(self, files: SimulationFiles, process: subprocess.Popen[bytes]) -> tuple[State, str]:
        """Wait until the simulation is done, has failed, or must stop."""
        until = time.monotonic() + _MAX_SECONDS
        while not files.read("results"):
            if self._is_to_stop(files):
                reap(process)
                return "stopped", ""
            if time.monotonic() > until:
                reap(process)
                return "failed", f"it took longer than {_MAX_SECONDS:.0f} seconds; simulate fewer trials"
            if _has_replied(process) and not files.read("results"):
                reason = _failure(process)
                reap(process)
                return "failed", reason
            files.touch()
        return "done", ""

    def _await_report(self, files: SimulationFiles, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + _MAX_SECONDS
        while not _has_replied(process) and not self._is_to_stop(files) and time.monotonic() < until:
            pass
        reap(process)

    def _is_to_stop(self, files: SimulationFiles) -> bool:
        return self._closing.is_set() or files.is_to_stop or not files.folder.exists()


def _has_replied(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process has replied or ended, after a short wait."""
    assert process.stdout is not None
    return process.stdout.closed or bool(wait([process.stdout.fileno()], _POLL_SECONDS))


def _failure(process: subprocess.Popen[bytes]) -> str:
    """Return why the design could not be simulated."""
    try:
        _, error = reply_of(process)
    except JobProcessError as ended:
        return str(ended)
    if isinstance(error, (InputError, JobProcessError)):
        return str(error)
    log.error("a simulation failed: %s: %s", type(error).__name__, error)
    return "an error in the service; it was logged there"


def _too_many(detail: str) -> ProblemError:
    return ProblemError("too-many", detail, retry_after=2)
