"""The signatures that `help` and editors show for the calls of a client."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def as_method(method: Method, steps_of: Callable[..., Any]) -> Method:
    """Let a method show the parameters of its call, after itself, and the answer in place of the steps."""
    signature = inspect.signature(steps_of)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    answer = str(signature.return_annotation).removeprefix("Steps[").removesuffix("]")
    shown = signature.replace(parameters=[itself, *signature.parameters.values()], return_annotation=answer)
    method.__signature__ = shown  # type: ignore[attr-defined]
    return method
