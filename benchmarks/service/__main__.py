"""Measure the service, from the repository's root: python -m benchmarks.service. See scripts/bench-service."""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.cpu.measuring import Narrator
from benchmarks.pages import tell_bars
from benchmarks.service import endurance, optuna_beside, sharing, state_size, throughput
from benchmarks.service.bars import bars
from benchmarks.service.disk import file_system, fsync_ms
from benchmarks.service.findings import Findings
from benchmarks.service.load import FLAGS, Generator
from benchmarks.service.table import markdown

from adhere.studies.framework.report_writer import machine

_RESULTS = Path(__file__).parents[1] / "results"
_LIBRARIES = ("adhere", "starlette", "uvicorn", "uvloop", "httptools", "msgspec", "psycopg")


@dataclass(frozen=True)
class Effort:
    """How much to measure."""

    throughput: throughput.Effort
    optuna_rounds: int
    sharing_rounds: int
    seconds: float  # a measurement of these two
    state_subjects: int | None  # compositions of policies; None for all
    state_pairs: int
    long_pairs: int
    restarts: int
    fsyncs: int


_FULL = Effort(throughput.Effort(7, 4.0, 2, 20.0), 3, 5, 4.0, None, 300, 500_000, 5, 200)
_QUICK = Effort(throughput.Effort(2, 2.0, 1, 4.0), 1, 1, 2.0, 5, 100, 50_000, 2, 50)


def main() -> int:
    """Measure, then write the page and every round."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench-service", description="How fast adhere's service is, beside a bare log and Optuna."
    )
    parser.add_argument("--quick", action="store_true", help="about two minutes: fewer rounds, a shorter trial")
    parser.add_argument(
        "--out", type=Path, help="folder for the results (benchmarks/results; with --quick a new one in /tmp)"
    )
    parser.add_argument("--redraw", action="store_true", help="only write the page again, from service.json there")
    given = parser.parse_args()
    narrator = Narrator()
    folder: Path = given.out or (Path(tempfile.mkdtemp(prefix="adhere-bench-")) if given.quick else _RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    if not given.redraw:
        with tempfile.TemporaryDirectory(prefix="adhere-bench-") as work:
            _measure(Path(work), _QUICK if given.quick else _FULL, narrator).save(folder / "service.json")
    findings = Findings.load(folder / "service.json")
    (folder / "service.md").write_text(markdown(findings), encoding="utf-8")
    tell_bars(bars(findings), narrator)
    narrator.heading(f"wrote service.md and service.json in {folder}")
    return 0


def _measure(folder: Path, effort: Effort, narrator: Narrator) -> Findings:
    begin = time.monotonic()
    generator, seconds = Generator.compiled_in(folder), effort.seconds
    waits = fsync_ms(folder, effort.fsyncs)
    narrator.heading("beside a bare log, then latency")
    beside_bare = throughput.measure(folder, generator, effort.throughput, narrator)
    narrator.heading("beside Optuna")
    beside_optuna = optuna_beside.measure(folder, generator, effort.optuna_rounds, seconds, narrator)
    narrator.heading("PostgreSQL and SQLite")
    shared = sharing.measure(folder, generator, effort.sharing_rounds, seconds, narrator)
    narrator.heading("bytes of state, policy by policy (the first time each is compiled)")
    policies = state_size.policies(effort.state_subjects)
    sizes = state_size.measure(policies, effort.state_pairs, narrator)
    narrator.heading(f"a trial of {2 * effort.long_pairs:,} records")
    long_trial = endurance.measure(folder, generator, effort.long_pairs, effort.restarts, narrator)
    waits += fsync_ms(folder, effort.fsyncs)
    databases = {"SQLite": sqlite3.sqlite_version, "PostgreSQL": shared.postgres}
    return Findings(
        machine=machine(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        compiler=_compiler(),
        versions={name: version(name) for name in _LIBRARIES} | databases | beside_optuna.versions,
        disk=file_system(folder),
        fsync_ms=waits,
        seconds=time.monotonic() - begin,
        seconds_a_round=effort.throughput.seconds,
        throughput=beside_bare,
        optuna=beside_optuna,
        sharing=shared,
        state_bytes=sizes,
        state_pairs=effort.state_pairs,
        endurance=long_trial,
    )


def _compiler() -> str:
    compiler = os.environ.get("CC") or shutil.which("cc") or "cc"
    said = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    return f"{said.splitlines()[0]}, `{' '.join(FLAGS)}`"


if __name__ == "__main__":
    sys.exit(main())
