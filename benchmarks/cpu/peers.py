"""Other libraries' bandits, run by `benchmarks/peers/worker.py` in environments of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchmarks.cpu.measuring import Subject, Timed, amount_for
from benchmarks.cpu.ours import GREEDY, THOMPSON

PYMAB, PYMAB_EXPERIMENT, RIVER = "pymab", "pymab experiment", "river"
_ROOT = Path(__file__).parents[2]
_WORKER = _ROOT / "benchmarks" / "peers" / "worker.py"
_ENVIRONMENTS = {
    "peers": (RIVER, PYMAB, PYMAB_EXPERIMENT, "MABWiser"),
    "smpybandits": ("SMPyBandits",),
}


@dataclass
class Peers:
    """Those that run, those that do not and why, and everyone's version."""

    subjects: list[Subject] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


class Worker:
    """A process that answers questions."""

    def __init__(self, python: Path) -> None:
        self._process: subprocess.Popen[str] = subprocess.Popen(
            [str(python), "-W", "ignore", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, **question: object) -> dict[str, Any]:
        """The answer; an error if there is none."""
        asked, answers = _open(self._process.stdin), _open(self._process.stdout)
        asked.write(json.dumps(question) + "\n")
        asked.flush()
        line = answers.readline()
        return json.loads(line) if line else {"error": f"its process ended with status {self._process.wait()}"}

    def seconds(self, library: str, policy: str, decisions: int) -> float:
        """How long a library takes for so many decisions."""
        answer = self.ask(library=library, policy=policy, decisions=decisions)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return float(answer["seconds"])

    def close(self) -> None:
        """End the process."""
        _open(self._process.stdin).close()
        self._process.wait()


def _open(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def start(seconds: float) -> tuple[Peers, list[Worker]]:
    """Every library that runs here, each with as many decisions as take about so many seconds."""
    peers, workers = Peers(), []
    for environment, libraries in _ENVIRONMENTS.items():
        python = _ROOT / ".bench" / environment / "bin" / "python"
        if not python.exists():
            log = python.parents[2] / f"{environment}.log"
            said = log.read_text(encoding="utf-8").strip().splitlines() if log.is_file() else []
            why = said[-1] if said else "scripts/bench has not made its environment"
            peers.missing.update(dict.fromkeys(libraries, f"could not be installed: {why}"))
            continue
        workers.append(worker := Worker(python))
        for library in libraries:
            _add(peers, worker, library, seconds)
    return peers, workers


def _add(peers: Peers, worker: Worker, library: str, seconds: float) -> None:
    try:
        for policy in (THOMPSON, GREEDY):
            worker.seconds(library, policy, 10)  # imports, first calls
            peers.subjects.append(_subject(worker, library, policy, seconds))
        if library != PYMAB_EXPERIMENT:
            peers.versions[library] = worker.ask(library=library)["version"]
    except RuntimeError as error:
        peers.missing[library] = (
            f"does not run with Python {sys.version_info.major}.{sys.version_info.minor}: {error}"
        )


def _subject(worker: Worker, library: str, policy: str, seconds: float) -> Subject:
    n = amount_for(seconds, lambda amount: worker.seconds(library, policy, amount), 200, 1_000_000)
    n = max(10_000, n // 10_000 * 10_000) if library == PYMAB_EXPERIMENT else n  # whole replicates
    return Subject(library, policy, lambda: Timed(worker.seconds(library, policy, n), n))
