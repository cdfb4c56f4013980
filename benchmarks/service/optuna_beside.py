"""adhere's pairs a second beside Optuna's, which runs in an environment of its own (scripts/bench-service)."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cpu.measuring import Narrator, Rounds, Subject, Timed, alternate
from benchmarks.service.load import Generator
from benchmarks.service.subjects import ADHERE, CLIENTS, THOMPSON, Driven, prepare, serving_adhere

PLAIN, TUNED = "Optuna as it comes", "Optuna tuned"
ONE, THREADS, PROCESSES, MANY = "1 client", "16 threads", "16 processes", "16 clients"
_ROOT = Path(__file__).parents[2]
_SETUPS = {PLAIN: "plain", TUNED: "tuned"}
_WAYS = {ONE: ("threads", 1), THREADS: ("threads", CLIENTS), PROCESSES: ("processes", CLIENTS)}


@dataclass
class Beside:
    """Every round of adhere and of Optuna in each setup and way; pairs that Optuna gave up with an error."""

    rounds: Rounds
    failed: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    missing: str = ""  # why there is no Optuna here

    def best(self, setup: str) -> tuple[str, str]:
        """Of Optuna's two ways to have many clients, the one that is faster."""
        ways = [(setup, way) for way in (THREADS, PROCESSES)]
        return min(ways, key=lambda key: self.rounds.cost(key).median)


def measure(folder: Path, generator: Generator, n_rounds: int, seconds: float, narrator: Narrator) -> Beside:
    """In turn; Optuna has a new database in every round, since its default sampler slows down as a study grows."""
    python = _ROOT / ".bench" / "optuna" / "bin" / "python"
    found = Beside(Rounds())
    if not python.exists():
        log = _ROOT / ".bench" / "optuna.log"
        said = log.read_text(encoding="utf-8").strip().splitlines() if log.is_file() else []
        found.missing = f"could not be installed: {said[-1] if said else 'scripts/bench-service was not run'}"
        narrator.note(f"Optuna {found.missing}")
        return found
    failed: Counter[str] = Counter()

    def optuna(setup: str, way: str) -> Subject:
        def run() -> Timed:
            told = _ask(python, _SETUPS[setup], *_WAYS[way], seconds)
            failed[f"{setup}, {way}"] += told["failed"]
            found.versions.update(told["versions"])
            return Timed(told["seconds"], told["pairs"])

        return Subject(setup, way, run)

    file = folder / "adhere-optuna.db"
    token = prepare(file, {"trial": THOMPSON})
    with serving_adhere(file) as server:
        driven = Driven(generator, server, token)
        driven.load(["trial"], seconds=1.0)
        ours = [
            Subject(ADHERE, ONE, lambda: driven.timed(["trial"], seconds, clients=1)),
            Subject(ADHERE, MANY, lambda: driven.timed(["trial"], seconds)),
        ]
        theirs = [optuna(setup, way) for setup in _SETUPS for way in _WAYS]
        found.rounds = alternate([*ours, *theirs], n_rounds, narrator)
    found.failed = {name: count for name, count in failed.items() if count}
    return found


def _ask(python: Path, setup: str, way: str, clients: int, seconds: float) -> dict[str, Any]:
    command = [str(python), "-m", "benchmarks.service.optuna_peer", "--setup", setup, "--way", way]
    command += ["--clients", str(clients), "--seconds", str(seconds)]
    done = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told
