"""Sentences for functions that compiled code would never run, or would call in another way than they are written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from adhere.compilation.places import Place
from adhere.errors import InputError, SourceError

_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def name_of(value: Any) -> str:
    """What a function or class is called; of anything else its text."""
    return str(getattr(value, "__name__", value if isinstance(value, str) else repr(value)))


def is_foreign(function: Any) -> bool:
    """Whether a function is not adhere's own."""
    return not str(getattr(function, "__module__", "")).startswith("adhere.")


def refusal(function: Any, value: str, expected: str) -> InputError:
    """An error about a function, with the line where it stands."""
    code, error = getattr(function, "__code__", None), InputError(name_of(function), value, expected)
    return SourceError(str(Place(code.co_filename, code.co_firstlineno)), error.sentence) if code else error


def check_arguments(
    function: Any, generic: Callable[..., Any], what: str, names: Sequence[str] | None = None, hint: str = ""
) -> None:
    """Refuse what is no plain function of as many arguments as a generic function takes; their names are free."""
    names = names or list(inspect.signature(generic).parameters)
    if not inspect.isfunction(function):
        raise refusal(function, what, "a plain function, which adhere compiles itself")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):  # LLVM would end the process
        raise refusal(function, "yield or async", "a function that returns")
    own = inspect.signature(function).parameters
    by_place = all(parameter.kind in _BY_PLACE for parameter in own.values())
    if not by_place or len(own) != len(names):
        given = (
            f"{len(own)} arguments ({', '.join(own)})"
            if by_place
            else f"({', '.join(str(one).partition(':')[0] for one in own.values())})"
        )
        raise refusal(function, given, f"{len(names)}, as {what} takes them: ({', '.join(names)}){hint}")
