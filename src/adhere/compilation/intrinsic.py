"""Functions that Python can call and that compiled code replaces by instructions of our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template


def intrinsic(definition: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let compiled code, on a processor or a GPU, run `definition` in place of the decorated function.

    The definition takes the typing context and the types of the arguments, and returns a signature and what
    generates the code. Numba's own decorator would leave nothing that Python can call.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        template = make_intrinsic_template(function, definition, function.__name__, prefer_literal=True)
        infer(template)
        infer_global(function, types.Function(template))
        return function

    return register
