"""Run studies, save their tables, and write the report."""

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adhere.checks import check_integer
from adhere.files import write_file
from adhere.randomness import check_seed
from adhere.report.page import page
from adhere.report.section import Section
from adhere.simulation import SimulationResult, simulate
from adhere.studies.framework import report_writer
from adhere.studies.framework.precompile import precompile
from adhere.studies.framework.progress import StudiesProgress, studies_progress
from adhere.studies.framework.report_writer import folder_lock, machine
from adhere.studies.framework.study import Study, Tables
from adhere.studies.framework.study_cache import Settings, load, read_json, save

TITLE = "Compliance-Aware Bandits, reproduced"
_SECONDS = "seconds.json"
_QUICK = "This is a quick run, with a tenth of the runs: verdicts near a limit may differ from those of a full run."


@dataclass(frozen=True)
class Reproduction:
    """The result of a run: the report's sections and file, and the `resumed` studies that did not run again."""

    sections: tuple[Section, ...]
    page: Path
    resumed: tuple[str, ...]
    seconds: float


def reproduce(
    out: Path,
    studies: Sequence[Study],
    *,
    catalogue: Iterable[Study] = (),
    seed: int = 0,
    quick: bool = False,
    fresh: bool = False,
    n_threads: int | None = None,
) -> Reproduction:
    """Run the unfinished studies, then write the report on all finished studies in this folder.

    `catalogue` gives the order of the report. Its studies are included if an earlier run with the same settings
    finished them here. If `fresh` is true, all `studies` run again. Each study's tables are saved as soon as it is
    finished; the complete report is written at the end.
    """
    started = time.perf_counter()
    settings = Settings.now(check_seed(seed), quick)
    if n_threads is not None:
        check_integer("n_threads", n_threads, 1, 1024)
    report_writer.check_folder(out)
    unfinished = out / report_writer.UNFINISHED
    known = {study.name: study for study in (*catalogue, *studies)}
    with folder_lock(out):
        cached = {
            name: load(unfinished, name, settings) or load(out / report_writer.DATA, name, settings) for name in known
        }
        finished = {name: one for name, one in cached.items() if one is not None}
        missing = [study for study in studies if fresh or study.name not in finished]
        seconds = _seconds_so_far(out, settings, finished)
        planned = [one for study in missing for one in study.experiments(quick).values()]
        with studies_progress(sum(one.total_patients for one in planned)) as progress:
            precompile([composition for one in planned for composition in one.compositions()], progress.compiled)
            for study in missing:
                progress.begin(study.title)
                began = time.perf_counter()
                tables = _run(study, seed, quick, n_threads, progress)
                finished[study.name] = save(unfinished, study.name, settings, tables)
                seconds[study.name] = time.perf_counter() - began
                noted = {"settings": asdict(settings), "seconds": seconds}
                write_file(unfinished / _SECONDS, json.dumps(noted, indent=1).encode())
            progress.begin("writing the report")
            reported = [study for name, study in known.items() if name in finished]
            # From the tables as read from disk, as a later run would.
            sections = tuple(study.render(finished[study.name].tables) for study in reported)
            figures = report_writer.figure_contents(sections)
            run = {
                "settings": asdict(settings),
                "machine": machine(),
                "seconds": {study.name: seconds[study.name] for study in reported if study.name in seconds},
                "whole_run_seconds": time.perf_counter() - started,
            }
            shown = {name: files[".svg"] for name, files in figures.items()}
            text = page(TITLE, sections, shown, _foot(run), _QUICK if quick else "")
            report_writer.write_report(out, text, figures, finished, run)
        shutil.rmtree(unfinished, ignore_errors=True)
    resumed = tuple(study.name for study in reported if study not in missing)
    return Reproduction(sections, out / report_writer.PAGE, resumed, time.perf_counter() - started)


def _seconds_so_far(out: Path, settings: Settings, finished: Iterable[str]) -> dict[str, float]:
    """Return how long the finished studies took when they ran."""
    seconds: dict[str, float] = {}
    for path in (out / report_writer.RUN, out / report_writer.UNFINISHED / _SECONDS):
        noted = read_json(path)
        if noted.get("settings") == asdict(settings):
            seconds |= noted["seconds"]
    return {name: seconds[name] for name in finished if name in seconds}


def _run(study: Study, seed: int, quick: bool, n_threads: int | None, progress: StudiesProgress) -> Tables:
    results: dict[str, SimulationResult] = {}
    for name, one in study.experiments(quick).items():
        results[name] = simulate(**vars(one), seed=seed, n_threads=n_threads, progress=progress)
        progress.finish(one.total_patients)
    return study.tables(results)


def _foot(run: dict[str, Any]) -> dict[str, str]:
    settings = run["settings"]
    each = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in run["seconds"].items())
    return {
        "Size": "a tenth of the runs (quick)" if settings["quick"] else "the paper's own (full)",
        "Seed": str(settings["seed"]),
        "Version": f"adhere {settings['version']}, sources {settings['sources']}",
        "Machine": run["machine"],
        "Duration": f"{run['whole_run_seconds']:.0f} s for this run; studies: {each or 'none'}",
    }
