"""Run a user's functions as plain Python, where what goes wrong has a line."""

from __future__ import annotations

import itertools
import re
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np
from numba import config

# How NumPy complains of a division by 0, of which Python's own numbers say `ZeroDivisionError`. An array that is
# divided by 0 holds infinity, compiled or not.
_DIVIDED = r"(divide by zero|invalid value) encountered in scalar (divide|floor_divide|remainder|divmod)"
_POWER = r"divide by zero encountered in scalar power"
_ONE_THREAD = threading.RLock()


@contextmanager
def as_python(*modules: ModuleType, strict: bool = False) -> Iterator[None]:
    """Let the policies of some modules run as Python, with NumPy's arithmetic as quiet as that of compiled code.

    A number that a function of theirs divides by 0 is an error, as in compiled code; if `strict`, a power of 0 that
    does not exist is an error too, as in Python. One thread at a time does so: others would find Numba turned off.
    """
    with _ONE_THREAD:
        yield from _turned_off(modules, [_DIVIDED, _POWER] if strict else [_DIVIDED])


def _turned_off(modules: Iterable[ModuleType], errors: Iterable[str]) -> Iterator[None]:
    compiled = [
        (module, {name: one for name, one in vars(module).items() if hasattr(one, "py_func")})  # the user's own njit
        for module in modules
    ]
    before, config.DISABLE_JIT = config.DISABLE_JIT, 1
    for module, functions in compiled:
        vars(module).update({name: one.py_func for name, one in functions.items()})
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore", divide="warn", invalid="warn"):
            warnings.simplefilter("ignore", RuntimeWarning)
            for module, error in itertools.product(modules, errors):
                warnings.filterwarnings("error", error, RuntimeWarning, re.escape(module.__name__) + r"\Z")
            yield
    finally:
        for module, functions in compiled:
            vars(module).update(functions)
        config.DISABLE_JIT = before


def divides_by_zero(error: BaseException) -> bool:
    """Whether an exception, raised by code that runs as Python, says that a number was divided by 0."""
    return isinstance(error, ZeroDivisionError) or (
        isinstance(error, RuntimeWarning) and re.match(f"{_DIVIDED}|{_POWER}", str(error)) is not None
    )
