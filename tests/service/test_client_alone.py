"""adhere-client as a distribution of its own: with the libraries it names and no other, small and quick to import."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator, Set
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from blocked import run_without
from service.serving import Service

PACKAGE = Path(__file__).parents[2] / "packages" / "adhere-client"
ABSENT = {"numpy", "numba", "polars", "adhere"}
LATER = {"httpcore", "anyio", "asyncio", "ssl", "socket"}  # imported when a client is made
MAX_MEGABYTES = 30


def _needed(requirements: list[str], extras: Set[str] = frozenset()) -> Iterator[Distribution]:
    """The distributions that these requirements bring in."""
    for text in requirements:
        wanted = Requirement(text)
        if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in extras | {""}):
            continue
        found = distribution(wanted.name)
        yield found
        yield from _needed(found.requires or [], wanted.extras)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of libraries as `pip install ./packages/adhere-client` makes it, of links."""
    folder = tmp_path_factory.mktemp("site-packages")
    named = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["dependencies"]
    (folder / "adhere_client").symlink_to(PACKAGE / "src" / "adhere_client")
    for library in _needed(named):
        for part in {file.parts[0] for file in library.files or () if file.parts[0] != ".."} - {"__pycache__"}:
            if not (folder / part).exists():
                (folder / part).symlink_to(Path(str(library.locate_file(part))))
    return folder


def _run(alone: Path, code: str, *arguments: str) -> str:
    prelude = f"import sys; sys.path.append({str(alone)!r})\n"
    command = [sys.executable, "-I", "-S", "-c", prelude + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_clients_work_with_nothing_else_installed(alone: Path, service: Service) -> None:
    code = """
import adhere_client
print(*sys.modules)

client = adhere_client.Client(*sys.argv[1:])
trials = client.trials()

import asyncio
async def ask():
    async with adhere_client.AsyncClient(*sys.argv[1:]) as client:
        return await client.trials()
assert asyncio.run(ask()) == trials
print(*sys.modules)
"""
    imported, used = (set(line.split()) for line in _run(alone, code, service.url, service.admin).splitlines())
    assert not imported & (ABSENT | LATER)
    assert not used & ABSENT


def test_it_is_small(alone: Path) -> None:
    files = (file for part in alone.iterdir() for file in part.resolve().rglob("*"))
    size = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
    assert size < MAX_MEGABYTES


def test_it_is_whole() -> None:
    assert (PACKAGE / "LICENSE").read_bytes() == (PACKAGE.parents[1] / "LICENSE").read_bytes()
    assert (PACKAGE / "src" / "adhere_client" / "py.typed").is_file()


def test_adhere_without_it_says_what_to_install() -> None:
    code = """
import adhere
from adhere.cli.main import main
assert adhere.InputError and adhere.UnknownError
for name in ("Client", "AsyncClient", "ServiceError"):
    try:
        getattr(adhere, name)
    except ImportError as error:
        print(error)
sys.stderr = sys.stdout
assert main(["token", "list", "--server", "http://127.0.0.1:9"]) == 2
"""
    how = "adhere.Client needs adhere-client: in adhere's repository, pip install ./packages/adhere-client"
    said = run_without("adhere_client", code=code).splitlines()
    assert said[:3] == [how] * 3
    assert said[3].startswith("error: --server: got 'http://127.0.0.1:9', expected ")
    assert "pip install ./packages/adhere-client" in said[3]
