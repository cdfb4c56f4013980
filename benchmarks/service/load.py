"""Load for the service: compiles load.c, runs it, reads what it found. python -m benchmarks.service.load --help."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RECOMMEND = "/trials/{trial}/recommendations"
REPORT = "/trials/{trial}/recommendations/{id}/reports"
FLAGS = ("-O2",)
_SOURCE = Path(__file__).with_name("load.c")
_PATIENCE = 60.0  # seconds beyond the asked duration before a server counts as hung


@dataclass(frozen=True)
class Load:
    """Who asks for what, how often and how long; load.c says what each means."""

    ports: Sequence[int]
    trials: Sequence[str]
    token: str
    clients: int = 16
    seconds: float = 0.0  # 0: until so many pairs
    pairs: int = 0  # 0: until so many seconds
    rate: float = 0.0  # pairs a second in all; 0: as fast as answers come
    recommend: str = RECOMMEND
    report: str = REPORT


@dataclass(frozen=True)
class Latency:
    """Milliseconds from when a request was due to when its answer was there."""

    count: int
    p50: float
    p90: float
    p99: float
    max: float


@dataclass(frozen=True)
class Outcome:
    """What became of a load; `cpu_seconds` is what the load generator itself took."""

    pairs: int
    seconds: float
    cpu_seconds: float
    errors: dict[str, int]
    recommend: Latency | None
    report: Latency | None
    overall: Latency | None

    @property
    def rate(self) -> float:
        """Pairs a second."""
        return self.pairs / self.seconds if self.seconds else 0.0

    @staticmethod
    def from_json(found: dict[str, Any]) -> Outcome:
        """What load.c printed; a kind of request of which none was answered has no latency."""
        for kind in ("recommend", "report", "overall"):
            found[kind] = Latency(**found[kind]) if found[kind]["count"] else None
        return Outcome(**found)


@dataclass(frozen=True)
class Generator:
    """The compiled load generator."""

    program: Path

    @staticmethod
    def compiled_in(folder: Path) -> Generator:
        """Compile it with the machine's C compiler."""
        compiler = os.environ.get("CC") or shutil.which("cc") or "cc"
        program = folder / "load"
        subprocess.run([compiler, *FLAGS, str(_SOURCE), "-o", str(program)], check=True)
        return Generator(program)

    def run(self, load: Load) -> Outcome:
        """Put the load on, with names and keys that no other run has used."""
        arguments = [
            ",".join(map(str, load.ports)),
            ",".join(load.trials),
            load.recommend,
            load.report,
            load.token,
            load.clients,
            load.seconds,
            load.pairs,
            load.rate,
            secrets.randbits(63),
        ]
        done = subprocess.run(
            [str(self.program), *map(str, arguments)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_PATIENCE + 10 * load.seconds if load.seconds else None,
        )
        return Outcome.from_json(json.loads(done.stdout))


def main() -> int:
    """Run one load as the arguments say and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.load", description="Load for the service.")
    parser.add_argument("--ports", type=_ports, required=True, help="of the servers, with commas between")
    parser.add_argument("--trials", type=lambda text: text.split(","), required=True, help="with commas between")
    parser.add_argument("--token", required=True)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--rate", type=float, default=0.0, help="pairs a second; without it, as fast as answers come")
    parser.add_argument("--recommend", default=RECOMMEND, help="path; {trial} is replaced")
    parser.add_argument("--report", default=REPORT, help="path; {trial} and {id} are replaced")
    load = Load(**vars(parser.parse_args()))
    if not load.seconds and not load.pairs:
        parser.error("give --seconds or --pairs")
    with tempfile.TemporaryDirectory() as folder:
        found = Generator.compiled_in(Path(folder)).run(load)
    print(json.dumps(asdict(found)))
    return 0


def _ports(text: str) -> list[int]:
    return [int(port) for port in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
