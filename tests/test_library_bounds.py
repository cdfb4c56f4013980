"""A library whose internals we build on has an upper bound in pyproject.toml, and a comment that names our file."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsing import parsed

HERE = Path(__file__).parents[1]
SOURCES = HERE / "src/adhere"
# Classes that their libraries document as made to be subclassed.
PUBLIC_BASES = {
    "msgspec.Struct",
    "numpy.ndarray",
    "psycopg.OperationalError",
    "starlette.responses.Response",
    "typer.core.TyperCommand",
    "typer.core.TyperGroup",
}
DISTRIBUTIONS = {"numba.cuda": "numba-cuda", "llvmlite": "numba"}  # Numba pins the llvmlite that it needs
REQUIREMENT = re.compile(r'"([a-z-]+)(?:\[[a-z0-9,]+\])?(>=[^"]*)"[\],]*(?: *# *(.*))?')


def test_a_library_whose_internals_we_use_has_an_upper_bound() -> None:
    declared = {
        found[1]: (found[2], found[3] or "")
        for line in (HERE / "pyproject.toml").read_text().splitlines()
        if (found := REQUIREMENT.search(line))
    }
    uses = list(_uses(SOURCES))
    assert {"uvicorn", "psycopg", "numba", "distributed"} <= {library for library, _, _ in uses}
    for library, name, file in uses:
        versions, reason = declared[library]
        assert "<" in versions, f"{file} builds on {name}: {library} needs an upper bound"
        named = re.search(r"[\w/]+\.py", reason)
        assert named, f"the bound of {library} has no comment that names our file"
        assert (SOURCES / named[0]).is_file(), f"{named[0]}, which the bound of {library} names, does not exist"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from psycopg import Connection\nclass C(Connection[int]):\n    pass", "psycopg.Connection"),
        ("import uvicorn\nclass S(uvicorn.Server):\n    pass", "uvicorn.Server"),
        ("from numba.core.caching import _CacheLocator", "numba.core.caching._CacheLocator"),
        ("from numba.core import types", "numba.core.types"),
        ("from numba import njit", None),
        ("def f(executor):\n    return executor._client  # of distributed", "distributed._client"),
        ("class C:\n    def f(self):\n        return self._client", None),
    ],
)
def test_what_counts_as_an_internal(source: str, expected: str | None) -> None:
    assert [name for _, name in _internals(source)] == ([] if expected is None else [expected])


def _uses(folder: Path) -> Iterator[tuple[str, str, Path]]:
    for file in sorted(folder.rglob("*.py")):
        for library, name in _internals(file.read_text()):
            yield library, name, file.relative_to(folder)


def _internals(source: str) -> Iterator[tuple[str, str]]:
    """The libraries and names of what some source builds on that no library documents for that."""
    tree = parsed(source)
    imported = dict(_imported(tree))
    for name in imported.values():
        if _is_foreign(name) and (_is_private(name) or name.startswith("numba.core.")):
            yield _distribution(name), name
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                name = _full_name(base, imported)
                if _is_foreign(name) and name not in PUBLIC_BASES and not _is_private(name):
                    yield _distribution(name), name
        # No import tells the type of an object; this is the one attribute of a foreign one that is used.
        if isinstance(node, ast.Attribute) and node.attr == "_client" and _root(node) not in ("self", None):
            yield "distributed", "distributed._client"


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that a module imports, each with what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _full_name(node: ast.expr, imported: dict[str, str]) -> str:
    parts: list[str] = []
    node = node.value if isinstance(node, ast.Subscript) else node
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imported.get(node.id, ""), *reversed(parts)])


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_foreign(name: str) -> bool:
    top = name.partition(".")[0]
    return bool(top) and top not in sys.stdlib_module_names and not top.startswith("adhere")


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def _distribution(name: str) -> str:
    for module, library in DISTRIBUTIONS.items():
        if name.startswith(module):
            return library
    return name.partition(".")[0].replace("_", "-")
