"""Measure everything, from the repository's root: python -m benchmarks.cpu. See scripts/bench."""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.cpu import c_programs, generator, growth, lockstep, peers, startup
from benchmarks.cpu.bars import bars
from benchmarks.cpu.findings import Findings
from benchmarks.cpu.measuring import Narrator, Rounds, alternate
from benchmarks.cpu.ours import GREEDY, OTHERS, THOMPSON, THOMPSON_OF_THREE, THREE_ARMS, TWO_ARMS, prepare, subject
from benchmarks.cpu.plots import draw
from benchmarks.cpu.table import markdown
from benchmarks.pages import tell_bars

from adhere.processors import usable_processors
from adhere.studies.framework.report_writer import machine

_RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Effort:
    """How much to measure."""

    n_rounds: int
    seconds: float  # a measurement
    c_runs: int
    sizes: int | None  # of each kind of growth; None for all
    growth_rounds: int
    first_uses: int | None
    first_times: int
    study_runs: int


_FULL = Effort(9, 0.5, 4000, None, 5, None, 2, startup.STUDY_RUNS)
_QUICK = Effort(3, 0.15, 1000, 3, 2, 1, 1, 100)


def main() -> int:
    """Measure, then write the table, the plots and every round."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="How fast adhere is, beside C and other libraries."
    )
    parser.add_argument("--quick", action="store_true", help="a couple of minutes: fewer rounds, smaller sizes")
    parser.add_argument(
        "--out", type=Path, help="folder for the results (benchmarks/results; with --quick a new one in /tmp)"
    )
    parser.add_argument(
        "--redraw", action="store_true", help="only write table and plots again, from cpu.json in that folder"
    )
    given = parser.parse_args()
    narrator = Narrator()
    folder: Path = given.out or (Path(tempfile.mkdtemp(prefix="adhere-bench-")) if given.quick else _RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    if not given.redraw:
        try:
            _measure(_QUICK if given.quick else _FULL, narrator).save(folder / "cpu.json")
        except c_programs.DisagreementError as difference:
            narrator.heading(f"THE C PROGRAM AND ADHERE DIFFER: {difference}")
            return 1
    findings = Findings.load(folder / "cpu.json")
    (folder / "cpu.md").write_text(markdown(findings), encoding="utf-8")
    draw(findings, folder)
    tell_bars(bars(findings), narrator)
    narrator.heading(f"wrote cpu.md, cpu.json, cpu.png and cpu.svg in {folder}")
    return 0


def _measure(effort: Effort, narrator: Narrator) -> Findings:
    if usable_processors() < 2:
        narrator.note("this machine has one core: two threads cannot be faster than one")
    with ExitStack() as stack:
        programs = c_programs.Programs.compiled_in(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        found, others = _speed(effort, programs, narrator)
    narrator.heading("random words in three-arm Thompson sampling")
    words = generator.words_a_decision(1 if effort is _QUICK else 10)
    return Findings(
        machine=machine(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        compiler=programs.compiler,
        flags=" ".join(c_programs.FLAGS),
        versions={"adhere": version("adhere"), **others.versions},
        missing=others.missing,
        speed=found,
        words=words,
        growth=growth.measure(effort.seconds, effort.growth_rounds, effort.sizes, narrator),
        threads=growth.threads(3 * effort.seconds, effort.n_rounds, narrator),
        memory=growth.memory(effort.sizes, narrator),
        commands=startup.commands(effort.first_uses, effort.first_times, narrator),
        study_runs=effort.study_runs,
        study_seconds=startup.stroke_study(effort.study_runs, narrator),
    )


def _speed(effort: Effort, programs: c_programs.Programs, narrator: Narrator) -> tuple[Rounds, peers.Peers]:
    narrator.heading("compiling adhere's policies, or loading them")
    prepare([THOMPSON, GREEDY, *OTHERS], TWO_ARMS, narrator)
    prepare([THOMPSON], THREE_ARMS, narrator)
    narrator.heading("starting the other libraries, and finding out how much work takes how long")
    others, workers = peers.start(effort.seconds)
    for library, why in others.missing.items():
        narrator.note(f"{library} {why}")
    subjects = [
        *c_programs.subjects(programs, effort.c_runs),
        *others.subjects,
        *lockstep.subjects(effort.seconds),
        *(subject(policy, TWO_ARMS, effort.seconds) for policy in OTHERS),
        subject(THOMPSON, THREE_ARMS, effort.seconds, called=THOMPSON_OF_THREE),
        *generator.subjects(),
    ]
    narrator.heading(f"decisions a second: {effort.n_rounds} rounds of {len(subjects)} measurements")
    rounds = alternate(subjects, effort.n_rounds, narrator)
    for worker in workers:
        worker.close()
    return rounds, others


if __name__ == "__main__":
    sys.exit(main())
