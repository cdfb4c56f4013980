"""What is wrong with a form: the sentence, and the field and the part of the page to show it at."""

from __future__ import annotations

from typing import NamedTuple

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError, input_problem
from adhere.service.pages.problem import shown_problem


class FormProblem(NamedTuple):
    """A refusal as a page shows it."""

    part: str
    field: str
    sentence: str
    status: int


def form_problem(part: str, error: InputError | ProblemError) -> FormProblem:
    """A refusal of what a part of a page sent."""
    shown = shown_problem(error)
    status = input_problem(error).status if isinstance(error, InputError) else error.status
    # A kit is typed into the field of what was taken; only to unblind has it one of its own.
    field = "actual" if shown.field == "kit" and part != "unblinding" else shown.field
    return FormProblem(part, field, shown.beside, status)
