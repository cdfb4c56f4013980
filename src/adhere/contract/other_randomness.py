"""Where a user's file draws random numbers from elsewhere than the stream it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from adhere.compilation.places import Place

_OTHERS = ("numpy.random", "random", "secrets", "time", "uuid", "os.urandom")


def places_of_other_randomness(module: ModuleType) -> Iterator[tuple[Place, str]]:
    """Every line of a function that uses one, and its name."""
    file = str(module.__file__)
    for function in ast.walk(ast.parse(Path(file).read_bytes())):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                name = _name_of(node, module)
                if name and any(name == other or name.startswith(f"{other}.") for other in _OTHERS):
                    yield Place(file, getattr(node, "lineno", function.lineno)), name


def _name_of(node: ast.AST, module: ModuleType) -> str:
    """The full name of a dotted name, as the module's imports have it."""
    if isinstance(node, ast.Attribute):
        owner = _name_of(node.value, module)
        return f"{owner}.{node.attr}" if owner else ""
    if not isinstance(node, ast.Name):
        return ""
    found: Any = vars(module).get(node.id)
    if isinstance(found, ModuleType):
        return found.__name__
    home = getattr(found, "__module__", None) or type(getattr(found, "__self__", None)).__module__
    return f"{home}.{node.id}" if callable(found) else ""
