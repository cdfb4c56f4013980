"""A mistake that Numba finds in a user's policy, as one sentence with file and line.

Numba's own explanation is a page: what it tried, nested as the calls are, with the place in the user's file somewhere
in the middle. The first place of a user's that it names is the innermost one; the complaint that belongs to it is the
first line of its own level of nesting.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.ir import Loc

from adhere.compilation.dispatch import implementations_of
from adhere.compilation.numba_words import NONE_SOMETIMES, in_plain_words, kind_in_plain_words
from adhere.compilation.places import Place, is_users
from adhere.errors import CompileError

_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)|\bat (?P<at>/?[^()\n]+?) \((?P<number>\d+)\)')
_FAILED = "Failed in nopython mode pipeline"
_CHOSEN = re.compile(r"chosen|choose\(rule")
_QUOTED = re.compile(r"'([A-Za-z_]\w*)'")


def as_compile_error(error: Exception, classes: set[type]) -> CompileError | None:
    """What is wrong with the code of these rules; None if the error is not of their making."""
    own = _own_files(classes)
    text = re.sub(r"\x1b\[\d*m", "", str(error))
    place, complaint = _place_in(text, own)
    if place is None:
        complaint = _innermost(text)
        place = _place_in_frames(error, own) or _named_place(complaint, classes)
    if place is None and not isinstance(error, NumbaError | UnsupportedBytecodeError):
        return None
    reason = in_plain_words(complaint, classes)
    if place is None and _CHOSEN.search(text):
        kind = kind_in_plain_words(text)
        place = return_place(classes, of_none=kind == NONE_SOMETIMES)
        reason = f"choose must return an arm, a whole number ({kind or reason})"
    names = ", ".join(sorted(cls.__name__.removesuffix("Rule") for cls in classes))
    return CompileError(str(place) if place else f"policy {names}", reason)


def _own_files(classes: set[type]) -> set[str]:
    modules = (sys.modules.get(cls.__module__) for cls in classes if not cls.__module__.startswith("adhere."))
    return {file for module in modules if (file := getattr(module, "__file__", None))}


def _place_in(text: str, own: set[str]) -> tuple[Place | None, str]:
    """The innermost place of a user's that an explanation names, and the complaint about it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = _PLACE.search(line)
        if found is None:
            continue
        file = str(Path.cwd().joinpath(found["file"] or found["at"]).resolve())
        if is_users(file, own) and Path(file).is_file():
            return Place(file, int(found["line"] or found["number"])), _complaint_above(lines, number)
    return None, ""


def _complaint_above(lines: list[str], number: int) -> str:
    depth = _depth(lines[number])
    for above in range(number - 1, -1, -1):
        if _FAILED in lines[above] and _depth(lines[above + 1]) == depth:
            return "\n".join(line.strip() for line in lines[above + 1 : number + 1])
    return "\n".join(line.strip() for line in lines[: number + 1])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _innermost(text: str) -> str:
    return (text.rpartition(_FAILED)[2] or text).partition("\n")[2].strip() if _FAILED in text else text


def _place_in_frames(error: Exception, own: set[str]) -> Place | None:
    """The line that Numba was at when something other than an explanation came out of it."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for found in frame.f_locals.values():
            loc = found if isinstance(found, Loc) else getattr(found, "loc", None)
            if isinstance(loc, Loc) and is_users(loc.filename, own) and Path(loc.filename).is_file():
                return Place(loc.filename, loc.line)
    return None


def _named_place(complaint: str, classes: set[type]) -> Place | None:
    """Where a name that a complaint quotes stands in the functions of these rules."""
    quoted = set(_QUOTED.findall(complaint))
    for file, node in _nodes(classes):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if name in quoted:
            return Place(file, node.lineno)
    return None


def return_place(classes: set[type], of_none: bool = False) -> Place | None:
    """Line that returns the invalid arm, as far as it can be found; otherwise the function."""
    nodes = list(_nodes(classes, "choose"))
    returns = [(file, node) for file, node in nodes if isinstance(node, ast.Return)]
    empty = [(file, node) for file, node in returns if node.value is None or _is_none(node.value)] if of_none else []
    functions = [(file, node) for file, node in nodes if isinstance(node, ast.FunctionDef)]
    if of_none and not empty:  # it ends without a return
        return min((Place(file, node.lineno) for file, node in functions), default=None)
    found = max((Place(file, node.lineno) for file, node in empty or returns), default=None)
    return found or min((Place(file, node.lineno) for file, node in functions), default=None)


def _is_none(node: Any) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _nodes(classes: set[type], *names: str) -> Iterator[tuple[str, Any]]:
    """What the users' functions of these rules are made of, with lines counted from the top of the file."""
    for cls in classes:
        for name, function in implementations_of(cls).items():
            file = function.__code__.co_filename
            if (not names or name in names) and is_users(file):
                yield from ((file, node) for node in ast.walk(syntax_of(function)))


def syntax_of(function: Any) -> ast.Module:
    """The source of a function, with lines counted from the top of its file."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(inspect.cleandoc("\n" + "".join(lines)))
    ast.increment_lineno(tree, first - 1)
    return tree
