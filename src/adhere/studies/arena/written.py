"""What a run of the arena leaves in its folder: tables, a description of the run, and last the page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import polars

from adhere.errors import InputError
from adhere.files import write_file
from adhere.studies.arena.families import ARENA_SEED
from adhere.studies.framework.report_writer import machine
from adhere.studies.framework.study_cache import write_tables

DATA, PAGE, RUN = "data", "index.html", "run.json"
_QUICK = "This is a quick run, on half of the populations, with fewer runs and without the longest trials."


@dataclass(frozen=True)
class Arena:
    """What a run of the arena came to: its tables by name, and the folder that they are in.

    `n_kept` plays of `n_plays` were finished by an earlier run; `seconds` are those of this one, without the
    `compile_seconds`.
    """

    tables: dict[str, polars.DataFrame]
    out: Path
    own: tuple[str, ...]
    n_plays: int
    n_kept: int
    seconds: float
    compile_seconds: float

    @property
    def page(self) -> Path:
        """The page."""
        return self.out / PAGE


def check_folder(out: Path) -> None:
    """Refuse, before the work, a folder with another page, or to draw one without what draws it."""
    if (out / PAGE).exists() and not (out / RUN).exists():
        raise InputError("out", str(out), f"a folder for the arena alone ({out / PAGE} is no page of adhere's)")
    if find_spec("matplotlib") is None or find_spec("jinja2") is None:
        expected = "matplotlib and jinja2 to draw the page: pip install 'adhere[report]' (in a checkout: '.[report]')"
        raise InputError("out", str(out), expected)


def write_arena(done: Arena, seed: int, quick: bool, device: str) -> None:
    """Write everything, the page last."""
    from adhere.studies.arena.page import arena_page

    write_tables(done.out / DATA, done.tables)
    run = {
        "settings": {"seed": seed, "quick": quick, "device": device, "version": version("adhere")},
        "machine": machine(),
        "own_policies": done.own,
        "plays": done.n_plays,
        "plays_of_earlier_runs": done.n_kept,
        "seconds": done.seconds,
        "compile_seconds": done.compile_seconds,
    }
    foot = {
        "Size": "a small grid (quick)" if quick else "the whole grid",
        "Seed": f"{seed} of the simulation, {ARENA_SEED} of the populations",
        "Version": f"adhere {version('adhere')}",
        "Machine": machine() + (", on its GPU" if device == "cuda" else ""),
        "Duration": f"{done.seconds:.0f} s, and {done.compile_seconds:.0f} s to compile; "
        f"{done.n_kept:,} of {done.n_plays:,} plays were those of an earlier run",
    }
    write_file(done.out / RUN, json.dumps(run, indent=1).encode())
    write_file(done.page, arena_page(done.tables, foot, _QUICK if quick else "").encode())
