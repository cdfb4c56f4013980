"""Store finished studies on disk: their tables as Parquet and CSV, and the settings they were made with.

A study is written to a temporary folder and then moved into place, with a digest of each file. An interrupted or
modified study is therefore not mistaken for a finished one.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adhere.files import write_file
from adhere.simulation.execution.identity import sources_digest
from adhere.studies.framework.study import Tables

if TYPE_CHECKING:
    import polars

MADE_WITH = "made-with.json"


@dataclass(frozen=True)
class Settings:
    """The settings that determine a study's numbers. Only a study with the same settings is reused."""

    seed: int
    quick: bool
    version: str
    sources: str

    @staticmethod
    def now(seed: int, quick: bool) -> Settings:
        """Return the settings of a run with this version of adhere."""
        return Settings(seed, quick, version("adhere"), sources_digest())


@dataclass(frozen=True)
class CachedStudy:
    """A finished study on disk: its folder, its file names, and its tables as read from the files."""

    folder: Path
    files: tuple[str, ...]
    tables: Tables


def table_files(tables: Mapping[str, polars.DataFrame]) -> dict[str, bytes]:
    """Return each table as CSV and as Parquet, by file name."""
    contents: dict[str, bytes] = {}
    for name, table in tables.items():
        parquet, csv = io.BytesIO(), io.BytesIO()
        table.write_parquet(parquet)
        table.write_csv(csv)
        contents |= {f"{name}.parquet": parquet.getvalue(), f"{name}.csv": csv.getvalue()}
    return contents


def write_tables(folder: Path, tables: Mapping[str, polars.DataFrame]) -> None:
    """Write each table as CSV and as Parquet."""
    for name, content in table_files(tables).items():
        write_file(folder / name, content)


def save(folder: Path, name: str, settings: Settings, tables: Tables) -> CachedStudy:
    """Write a study's tables into `folder/name`, all or nothing, replacing its content. Then read them again."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = table_files(tables)
    digests = {title: _digest(content) for title, content in sorted(contents.items())}
    contents[MADE_WITH] = json.dumps({**_made_with(name, settings), "files": digests}, indent=1).encode()
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as scratch:
        new = Path(scratch) / name
        new.mkdir()
        for title, content in contents.items():
            (new / title).write_bytes(content)
        shutil.rmtree(folder / name, ignore_errors=True)
        new.rename(folder / name)
    written = load(folder, name, settings)
    if written is None:
        raise OSError(f"{folder / name} does not contain what was written into it: is the disk broken?")
    return written


def load(folder: Path, name: str, settings: Settings) -> CachedStudy | None:
    """Return a finished study made with these settings, or None if it is missing or damaged."""
    import polars  # `import adhere` must not wait for it

    place = folder / name
    made_with = read_json(place / MADE_WITH)
    digests = made_with.pop("files", None)
    if made_with != _made_with(name, settings) or not isinstance(digests, dict):
        return None
    tables = {}
    for title, digest in digests.items():
        try:
            content = (place / title).read_bytes()
        except OSError:
            return None
        if _digest(content) != digest:
            return None
        if title.endswith(".parquet"):
            tables[title.removesuffix(".parquet")] = polars.read_parquet(content)
    return CachedStudy(place, (*digests, MADE_WITH), tables)


def _made_with(name: str, settings: Settings) -> dict[str, Any]:
    return {"study": name, **asdict(settings)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, or an empty one if the file is missing or contains something else."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
