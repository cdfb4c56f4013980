"""No module of adhere imports itself by way of others, lazily or for its types."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from parsing import parsed

SOURCE = Path(__file__).parents[1] / "src"


def imports() -> dict[str, set[str]]:
    """The modules that each module imports anywhere in its text."""
    modules = {}
    for file in (SOURCE / "adhere").rglob("*.py"):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    found: dict[str, set[str]] = {}
    for module, file in modules.items():
        names = set()
        for node in ast.walk(parsed(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= {name if name in modules else node.module for name in whole}
        found[module] = names & set(modules) - {module}
    return found


def test_no_import_cycle() -> None:
    graph = imports()
    assert len(graph) > 300
    cycle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = error.args[1]
    assert cycle == []
