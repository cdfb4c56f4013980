"""Where in a user's own files something went wrong."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numba
import numpy as np

from adhere.errors import InputError

SENT = "sent"  # the folder of files that were sent to a worker, each in a folder of its own


class Place(NamedTuple):
    """A line of a file; printed as a user would name it."""

    file: str
    line: int

    def __str__(self) -> str:
        path = Path(self.file)
        if path.parent.parent.name == SENT:
            return f"{path.name} line {self.line}"
        here = Path.cwd()
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        return f"{shown} line {self.line}"


# Where installed code lies; a virtual environment may see packages that lie elsewhere, such as Numba.
_PATHS = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
_INSTALLED = (
    str(Path(__file__).parents[1]),
    *_PATHS,
    *(str(Path(home).parent) for home in (numba.__file__, np.__file__)),
)


def is_users(file: str, own: Iterable[str] = ()) -> bool:
    """Whether a file is a user's: neither adhere's nor installed, unless it is one of `own`."""
    if file in own:
        return True
    return not file.startswith(("<frozen", "<string", "<__array", "<dyn", *_INSTALLED))


def traceback_place(found: TracebackType | None, own: Iterable[str] = ()) -> Place | None:
    """The innermost line of a user's file in a traceback."""
    for frame, line in reversed(list(traceback.walk_tb(found))):
        if is_users(frame.f_code.co_filename, own):
            return Place(frame.f_code.co_filename, line)
    return None


def sentence_of(error: BaseException) -> str:
    """What an exception says, in one line."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    text = " ".join(said.split())
    if isinstance(error, InputError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
