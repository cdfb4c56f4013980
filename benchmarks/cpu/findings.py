"""Everything a run of the benchmark found, as plain data: the table and the plots read nothing else."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.cpu.generator import Words
from benchmarks.cpu.growth import Growth
from benchmarks.cpu.measuring import Rounds


@dataclass(frozen=True)
class Findings:
    """One run of the benchmark on one machine."""

    machine: str
    date: str
    compiler: str
    flags: str
    versions: dict[str, str]
    missing: dict[str, str]  # libraries that do not run here, and why
    speed: Rounds
    words: Words
    growth: list[Growth]
    threads: Rounds
    memory: dict[int, float]  # megabytes by number of runs
    commands: dict[str, dict[str, list[float]]]  # seconds by policy, first and later
    study_runs: int
    study_seconds: float

    def save(self, path: Path) -> None:
        """Write all of it, every round included."""
        data: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        data["speed"], data["threads"] = self.speed.to_json(), self.threads.to_json()
        data["words"], data["growth"] = asdict(self.words), [one.to_json() for one in self.growth]
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Findings:
        """What `save` wrote."""
        data = json.loads(path.read_text(encoding="utf-8"))
        data["speed"], data["threads"] = Rounds.from_json(data["speed"]), Rounds.from_json(data["threads"])
        data["words"], data["growth"] = Words(**data["words"]), [Growth.from_json(one) for one in data["growth"]]
        data["memory"] = {int(runs): megabytes for runs, megabytes in data["memory"].items()}
        return Findings(**data)
