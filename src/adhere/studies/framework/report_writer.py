"""Write a report into its folder: data and figures, a description of the run, and last the page.

Only files of an earlier run, as listed in its `run.json`, are replaced or removed. Other files in the folder are left
alone.
"""

import json
import os
import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock, Timeout

from adhere.errors import InputError, joined
from adhere.files import write_file
from adhere.processors import usable_processors
from adhere.report.section import Section
from adhere.studies.framework.study_cache import CachedStudy, read_json, write_tables
from adhere.studies.framework.words import Tables

_LOCK = ".lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Create the folder if necessary and exclude other runs from it. Remove it at the end if it is new and still
    empty.

    If a process is killed, the system releases its lock, so the file it leaves blocks nobody.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / _LOCK)
    try:
        try:
            # A short wait: a run that is just ending removes the file, and then a new one must be locked.
            lock.acquire(timeout=0.2)
        except Timeout:
            expected = "a folder that no other run is writing into (wait for that run, or choose another folder)"
            raise InputError("out", str(folder), expected) from None
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes it with the lock
                (folder / _LOCK).unlink()
            lock.release()
    finally:
        if made:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def machine() -> str:
    """Return the processor, cores, operating system and versions that numbers may depend on.

    >>> "Python" in machine()
    True
    """
    import numba
    import numpy

    versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}, Numba {numba.__version__}"
    return f"{_processor()}, {usable_processors()} cores, {platform.system()}; {versions}"


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.is_file():
        for line in described.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


UNFINISHED, DATA, FIGURES, PAGE, RUN = ".unfinished", "data", "figures", "index.html", "run.json"


def check_folder(out: Path) -> None:
    """Before any work, refuse a folder that cannot be written or contains another page."""
    for folder in (out, out / UNFINISHED, out / DATA, out / FIGURES):
        if folder.exists() and not folder.is_dir():
            raise InputError("out", str(out), f"a folder to write into ({folder} is a file)")
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            raise InputError("out", str(out), f"a writable folder ({folder} is not writable)")
    ours = "files" in read_json(out / RUN)
    for path in (out / PAGE, out / RUN):
        if path.exists() and not ours:
            raise InputError("out", str(out), f"a folder for the report alone ({path} was not written by adhere)")


def check_page_folder(out: Path, needed: Mapping[str, str]) -> None:
    """Before any work, refuse a folder with another page, and refuse to run without the `needed` modules of
    extras.
    """
    if (out / PAGE).exists() and not (out / RUN).exists():
        raise InputError("out", str(out), f"a folder for this page alone ({out / PAGE} was not written by adhere)")
    if any(find_spec(name) is None for name in needed):
        extras = ",".join(sorted(set(needed.values())))
        expected = (
            f"{joined(needed)} to write the page: pip install 'adhere[{extras}]' (in a checkout: '.[{extras}]')"
        )
        raise InputError("out", str(out), expected)


@dataclass(frozen=True)
class PageRun:
    """The result of a run that writes a page: its tables by name, their folder, and the duration in seconds."""

    tables: Tables
    out: Path
    seconds: float

    @property
    def page(self) -> Path:
        """The path of the page."""
        return self.out / PAGE


def write_page(
    done: PageRun,
    settings: Mapping[str, Any],
    run: Mapping[str, Any],
    foot: Mapping[str, str],
    page: Callable[[Mapping[str, str]], str],
) -> None:
    """Write the tables, a description of the run, and last the page. The page's foot describes the run."""
    described = {"settings": {**settings, "version": version("adhere")}, "machine": machine(), **run}
    write_tables(done.out / DATA, done.tables)
    write_file(done.out / RUN, json.dumps(described, indent=1).encode())
    write_file(done.page, page({**foot, "Version": f"adhere {version('adhere')}", "Machine": machine()}).encode())


def figure_contents(sections: Sequence[Section]) -> dict[str, dict[str, bytes]]:
    """Return the contents of every figure's files, by name and suffix."""
    from adhere.report.style import figure_files

    drawn: dict[str, dict[str, bytes]] = {}
    for one in (figure for section in sections for figure in section.all_figures()):
        if one.name in drawn:
            raise InputError("figure", one.name, "a name that no other figure of the report has")
        drawn[one.name] = figure_files(one.draw)
    return drawn


def write_report(
    out: Path,
    page: str,
    figures: Mapping[str, Mapping[str, bytes]],
    studies: Mapping[str, CachedStudy],
    run: dict[str, Any],
) -> None:
    """Write the report, the page last. No page exists until then, so a page is never beside another run's data."""
    contents = {
        f"{FIGURES}/{name}{suffix}": content for name, files in figures.items() for suffix, content in files.items()
    }
    for name, study in studies.items():
        for file in study.files:
            contents[f"{DATA}/{name}/{file}"] = (study.folder / file).read_bytes()
    document = json.dumps({**run, "files": sorted(contents)}, indent=1).encode()
    (out / PAGE).unlink(missing_ok=True)
    _remove_earlier(out, contents)
    write_file(out / RUN, document)
    for place, content in contents.items():
        write_file(out / place, content)
    write_file(out / PAGE, page.encode())


def _remove_earlier(out: Path, kept: Collection[str]) -> None:
    """Remove the data and figures that only an earlier run wrote. Paths that lead out of the folder are ignored."""
    listed = read_json(out / RUN).get("files")
    places = [place for place in listed if isinstance(place, str)] if isinstance(listed, list) else []
    for place in places:
        parts = PurePosixPath(place).parts
        if place not in kept and place.startswith((f"{DATA}/", f"{FIGURES}/")) and ".." not in parts:
            (out / place).unlink(missing_ok=True)
            for folder in list((out / place).parents)[: len(parts) - 1]:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
