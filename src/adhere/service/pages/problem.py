"""What the API refused, as a page shows it: a sentence, and the field that it is about."""

from __future__ import annotations

from typing import NamedTuple

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError


class ShownProblem(NamedTuple):
    """A sentence, what it says of its field where it stands beside it, and the field's name."""

    sentence: str
    beside: str
    field: str


def shown_problem(error: InputError | ProblemError) -> ShownProblem:
    """The problem as a sentence."""
    text = error.sentence if isinstance(error, InputError) else error.body.detail
    field = error.field if isinstance(error, InputError) else error.body.field or ""
    text = text.removesuffix(".")
    beside = text.removeprefix(f"{field}: ")
    if isinstance(error, InputError) and " characters (got " in error.expected:  # the field shows the value itself
        beside = error.expected
    return ShownProblem(f"{text}.", f"{beside[:1].upper()}{beside[1:]}.", field)
