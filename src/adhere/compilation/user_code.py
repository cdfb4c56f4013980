"""Users' code: its location, mistakes in it, and functions that would never be called."""

import inspect
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numba
import numpy as np

from adhere.errors import InputError, SourceError

SENT = "sent"  # the folder of files that were sent to a worker, each in a subfolder


class Place(NamedTuple):
    """A line of a file, written like "policy.py line 3" in messages."""

    file: str
    line: int

    def __str__(self) -> str:
        path = Path(self.file)
        if path.parent.parent.name == SENT:
            return f"{path.name} line {self.line}"
        here = Path.cwd()
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        return f"{shown} line {self.line}"


# Folders of installed code. A virtual environment may use packages that are installed elsewhere, such as Numba.
_PATHS = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
_INSTALLED = (
    str(Path(__file__).parents[1]),
    *_PATHS,
    *(str(Path(home).parent) for home in (numba.__file__, np.__file__)),
)


def is_users(file: str, own: Iterable[str] = ()) -> bool:
    """Return whether a file is a user's: one of `own`, or neither adhere's nor installed."""
    if file in own:
        return True
    return not file.startswith(("<frozen", "<string", "<__array", "<dyn", *_INSTALLED))


def traceback_place(found: TracebackType | None, own: Iterable[str] = ()) -> Place | None:
    """Return the innermost line of a user's file in a traceback."""
    for frame, line in reversed(list(traceback.walk_tb(found))):
        if is_users(frame.f_code.co_filename, own):
            return Place(frame.f_code.co_filename, line)
    return None


def sentence_of(error: BaseException) -> str:
    """Return the message of an exception in one line."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    text = " ".join(said.split())
    if isinstance(error, InputError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def name_of(value: Any) -> str:
    """Return the name of a function or class, or the text of anything else."""
    return str(getattr(value, "__name__", value if isinstance(value, str) else repr(value)))


def is_foreign(function: Any) -> bool:
    """Return whether a function is not adhere's own."""
    return not str(getattr(function, "__module__", "")).startswith("adhere.")


def refusal(function: Any, value: str, expected: str) -> InputError:
    """Return an error about a function, with the line where it is defined."""
    code, error = getattr(function, "__code__", None), InputError(name_of(function), value, expected)
    return SourceError(str(Place(code.co_filename, code.co_firstlineno)), error.sentence) if code else error


def check_arguments(
    function: Any, generic: Callable[..., Any], what: str, names: Sequence[str] | None = None, hint: str = ""
) -> None:
    """Refuse anything but a plain function with as many arguments as a generic function; argument names are free."""
    names = names or list(inspect.signature(generic).parameters)
    if not inspect.isfunction(function):
        raise refusal(function, what, "a plain function, which adhere compiles itself")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):  # LLVM would end the process
        raise refusal(function, "yield or async", "a function that returns")
    own = inspect.signature(function).parameters
    by_place = all(parameter.kind in _BY_PLACE for parameter in own.values())
    if not by_place or len(own) != len(names):
        shown = ", ".join(own if by_place else (str(one).partition(":")[0] for one in own.values()))
        given = f"{len(own)} arguments ({shown})" if by_place else f"({shown})"
        raise refusal(function, given, f"{len(names)}, as {what} takes them: ({', '.join(names)}){hint}")
