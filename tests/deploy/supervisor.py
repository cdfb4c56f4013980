"""A small supervisor that runs a service by the rules of its systemd unit: when to start it again, and when not."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

UNIT = Path(__file__).parents[2] / "deploy" / "adhere.service"
_CLEAN = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE}  # systemd.service(5): a clean exit
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_KNOWN = {"Restart", "RestartSec", "RestartPreventExitStatus"}


def seconds(text: str) -> float:
    """A time span of systemd."""
    if text == "infinity":
        return float("inf")
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"([\d.]+)\s*([a-z]*)", text))


@dataclass(frozen=True)
class Rules:
    """The parts of a unit that decide whether the service is started again, with systemd's defaults."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    restart: str
    restart_seconds: float
    prevented: frozenset[int]
    limit_seconds: float
    limit_burst: int
    stop_seconds: float
    stop_signal: signal.Signals

    @classmethod
    def read(cls, file: Path = UNIT) -> Rules:
        """Read a unit; a rule for restarts that this supervisor does not know fails."""
        found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        section = ""
        for line in file.read_text().splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif line and line[0] not in "#;":
                key, _, value = line.partition("=")
                found[section][key].append(value)
        unit, service = found["Unit"], found["Service"]
        unknown = {key for key in service if key.startswith(("Restart", "Success", "Timeout", "Watchdog"))}
        assert unknown <= _KNOWN | {"TimeoutStopSec"}, unknown
        assert service["Type"] == ["exec"]  # it counts as started at once, so that no time-out ends a slow start
        return cls(
            command=tuple(shlex.split(service["ExecStart"][0])),
            environment=dict(line.split("=", 1) for line in service["Environment"]),
            restart=_last(service, "Restart", "no"),
            restart_seconds=seconds(_last(service, "RestartSec", "100ms")),
            prevented=frozenset(map(int, " ".join(service["RestartPreventExitStatus"]).split())),
            limit_seconds=seconds(_last(unit, "StartLimitIntervalSec", "10")),
            limit_burst=int(_last(unit, "StartLimitBurst", "5")),
            stop_seconds=seconds(_last(service, "TimeoutStopSec", "90")),
            stop_signal=signal.Signals[_last(service, "KillSignal", "SIGTERM")],
        )

    def starts_again(self, code: int) -> bool:
        """Whether a service that ended with this code (negative: by that signal) is started again."""
        if code in self.prevented:
            return False
        failed = signal.Signals(-code) not in _CLEAN if code < 0 else code != 0
        return {"no": False, "always": True, "on-failure": failed}[self.restart]


def _last(section: Mapping[str, list[str]], key: str, default: str) -> str:
    return section[key][-1] if section.get(key) else default


class Supervisor:
    """Runs the program of a unit until `stop`, or until the unit's rules say that it is not started again.

    `codes` are the exit codes of all runs so far, and `state` is what `systemctl status` would say.
    """

    def __init__(
        self,
        log: Path,
        settings: Mapping[str, str] | None = None,
        *,
        rules: Rules | None = None,
        command: Sequence[str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.rules = rules or Rules.read()
        self._command = list(command or [sys.executable, "-m", "adhere", *self.rules.command[1:]])
        self.environment = {**os.environ, **(settings or {})}
        self._log, self._cwd = log, cwd
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._starts: list[float] = []
        self._thread: threading.Thread | None = None
        self.codes: list[int] = []
        self.state: Literal["inactive", "active", "activating", "failed"] = "inactive"

    def __enter__(self) -> Supervisor:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def log(self) -> str:
        """Output of all runs."""
        return self._log.read_text() if self._log.exists() else ""

    def start(self) -> None:
        """Start the service, as `systemctl start` does."""
        self._stopping.clear()
        self.state = "activating"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop it, as `systemctl stop` does."""
        self._stopping.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(self.rules.stop_signal)
        if self._thread is not None:
            self._thread.join(self.rules.stop_seconds)
            if self._thread.is_alive() and process is not None:
                process.kill()
            self._thread.join()

    def kill(self) -> None:
        """Kill the process that runs now, as a power cut does."""
        assert self._process is not None
        self._process.kill()

    def _run(self) -> None:
        rules = self.rules
        while not self._stopping.is_set():
            now = time.monotonic()
            self._starts = [start for start in self._starts if now - start < rules.limit_seconds]
            if rules.limit_seconds and len(self._starts) >= rules.limit_burst:
                self.state = "failed"
                return
            self._starts.append(now)
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    self._command, env=self.environment, stdout=log, stderr=log, cwd=self._cwd
                )
            self.state = "active"
            if self._stopping.is_set():
                self._process.send_signal(rules.stop_signal)
            code = self._process.wait()
            self.codes.append(code)
            if self._stopping.is_set() or not rules.starts_again(code):
                break
            self.state = "activating"
            self._stopping.wait(rules.restart_seconds)
        stopped = self._stopping.is_set()
        self.state = "inactive" if stopped or self.codes[-1:] == [0] else "failed"
