"""What a run of the study leaves in its folder: tables, a description of the run, and last the page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import polars

from adhere.errors import InputError
from adhere.files import write_file
from adhere.studies.framework.report_writer import machine
from adhere.studies.framework.study_cache import write_tables

DATA, PAGE, RUN, SUMMARY = "data", "index.html", "run.json", "summary.md"
_QUICK = "This is a quick run: with so few trials many bars stay open."
_NEEDED = {"scipy": "analysis", "matplotlib": "report", "jinja2": "report"}


@dataclass(frozen=True)
class Coverage:
    """What a run of the study came to: its tables by name, and the folder that they are in."""

    tables: dict[str, polars.DataFrame]
    out: Path
    seconds: float

    @property
    def page(self) -> Path:
        """The page."""
        return self.out / PAGE


def check_folder(out: Path) -> None:
    """Refuse, before the work, a folder with another page, or to run without what analyses and draws."""
    if (out / PAGE).exists() and not (out / RUN).exists():
        raise InputError("out", str(out), f"a folder for the study alone ({out / PAGE} is no page of adhere's)")
    if any(find_spec(name) is None for name in _NEEDED):
        extras = ",".join(sorted(set(_NEEDED.values())))
        expected = f"{', '.join(_NEEDED)}: pip install 'adhere[{extras}]' (in a checkout: '.[{extras}]')"
        raise InputError("out", str(out), expected)


def write_coverage(done: Coverage, seed: int, quick: bool) -> None:
    """Write everything, the page last."""
    from adhere.studies.coverage.judgements import judge, markdown
    from adhere.studies.coverage.page import coverage_page

    write_tables(done.out / DATA, done.tables)
    run = {
        "settings": {"seed": seed, "quick": quick, "version": version("adhere")},
        "machine": machine(),
        "seconds": done.seconds,
    }
    foot = {
        "Size": "few trials (quick)" if quick else "all trials",
        "Seed": str(seed),
        "Version": f"adhere {version('adhere')}",
        "Machine": machine(),
        "Duration": f"{done.seconds:.0f} s",
    }
    write_file(done.out / SUMMARY, markdown(judge(done.tables)).encode())
    write_file(done.out / RUN, json.dumps(run, indent=1).encode())
    write_file(done.page, coverage_page(done.tables, foot, _QUICK if quick else "").encode())
