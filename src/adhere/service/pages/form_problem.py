"""What is wrong with a form: the sentence, and the field and the part of the page to show it at."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError, input_problem

Refusal: TypeAlias = InputError | ProblemError


class FormProblem(NamedTuple):
    """A refusal as a page shows it."""

    part: str
    field: str
    sentence: str
    status: int


def form_problem(part: str, error: Refusal) -> FormProblem:
    """A refusal of what a part of a page sent."""
    problem = input_problem(error) if isinstance(error, InputError) else error
    text = problem.body.detail
    return FormProblem(part, problem.body.field or "", f"{text[:1].upper()}{text[1:]}.", problem.status)
