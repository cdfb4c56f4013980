"""Everything a run of the benchmark found, as plain data: the page reads nothing else."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu.measuring import Rounds
from benchmarks.service.endurance import Endurance
from benchmarks.service.load import Latency
from benchmarks.service.optuna_beside import Beside
from benchmarks.service.sharing import Sharing
from benchmarks.service.throughput import Throughput


@dataclass(frozen=True)
class Findings:
    """One run of the benchmark on one machine."""

    machine: str
    date: str
    compiler: str
    versions: dict[str, str]
    disk: str  # the kind of file system
    fsync_ms: list[float]  # some before and some after all else
    seconds: float  # that all of it took
    seconds_a_round: float
    throughput: Throughput
    optuna: Beside
    sharing: Sharing
    state_bytes: dict[str, int]  # by policy
    state_pairs: int  # after which they were taken
    endurance: Endurance

    def save(self, path: Path) -> None:
        """Write all of it, every round included."""
        data: dict[str, Any] = asdict(self)
        for part in ("throughput", "optuna", "sharing"):
            data[part]["rounds"] = getattr(self, part).rounds.to_json()
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Findings:
        """What `save` wrote."""
        data = json.loads(path.read_text(encoding="utf-8"))
        for part in ("throughput", "optuna", "sharing"):
            data[part]["rounds"] = Rounds.from_json(data[part]["rounds"])
        latency = data["throughput"]["latency"]
        data["throughput"]["latency"] = {name: [Latency(**run) for run in runs] for name, runs in latency.items()}
        megabytes = data["endurance"]["megabytes"]
        data["endurance"]["megabytes"] = {int(requests): size for requests, size in megabytes.items()}
        data["throughput"], data["optuna"] = Throughput(**data["throughput"]), Beside(**data["optuna"])
        data["sharing"], data["endurance"] = Sharing(**data["sharing"]), Endurance(**data["endurance"])
        return Findings(**data)
