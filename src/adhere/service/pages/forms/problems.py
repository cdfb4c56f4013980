"""Convert the API's refusals for pages: a message, the field that it is about, and the part of the page."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError, input_problem


class ShownProblem(NamedTuple):
    """A problem: a complete message, a shorter message to show beside the field, and the field's name."""

    sentence: str
    beside: str
    field: str


def shown_problem(error: InputError | ProblemError) -> ShownProblem:
    """Return the message and the field of a refusal."""
    text = error.sentence if isinstance(error, InputError) else error.body.detail
    field = error.field if isinstance(error, InputError) else error.body.field or ""
    text = text.removesuffix(".")
    beside = text.removeprefix(f"{field}: ")
    if isinstance(error, InputError) and " characters (got " in error.expected:  # the field itself shows the value
        beside = error.expected
    return ShownProblem(f"{text}.", f"{beside[:1].upper()}{beside[1:]}.", field)


NOTHING_CHANGED = "Nothing was changed. Choose what to correct."
_SENT_BEFORE = "This form was sent before, with something else. Look at what was recorded, and use the form again."
_REPORTED = "Something was reported. First correct it to “was never reported”, under Correct a report above."
_NO_KIT = "is not a kit of this trial. Check the pack."
_NOT_THEIR_KIT = "is not a kit of this site, nor one that this subject took. Check the pack."


@dataclass(frozen=True)
class FormProblem:
    """The mistakes in a part of a page: a message for each field, and the response's status."""

    part: str
    sentences: Mapping[str, str]
    status: int = 422

    @property
    def field(self) -> str:
        """Return the first wrong field."""
        return next(iter(self.sentences))

    @property
    def sentence(self) -> str:
        """Return all messages as one text."""
        return " ".join(self.sentences.values())


def form_problem(part: str, error: InputError | ProblemError) -> FormProblem:
    """Return the mistakes in a part of a page for a refusal of its form."""
    shown = shown_problem(error)
    status = input_problem(error).status if isinstance(error, InputError) else error.status
    sentence = shown.beside
    if shown.field == "correction":
        sentence = NOTHING_CHANGED
    elif shown.field == "request id":
        sentence = _SENT_BEFORE
    elif part == "error" and shown.field == "recommendation" and status == 409:
        sentence = _REPORTED
    elif shown.field == "kit" and isinstance(error, InputError) and status in (404, 422) and error.value:
        sentence = f"{error.value} {_NOT_THEIR_KIT if status == 404 else _NO_KIT}"
    # A kit is typed into the field of the treatment taken, except that unblinding has its own field.
    field = "actual" if shown.field == "kit" and part != "unblinding" else shown.field
    return FormProblem(part, {field: sentence}, status)


def already_recorded(problem: FormProblem, taken: str, outcome: str) -> FormProblem:
    """Return the problem of a report that conflicts with a recorded value, with a message that tells how to change
    the value.

    >>> already_recorded(FormProblem("outcome", {"reward": "Conflicts …"}, 409), "", "Outcome 1").sentence
    'Outcome 1 is already recorded. To change it, use Correct a report below.'
    """
    recorded = {"reward": outcome, "actual": taken, "took_other": taken}.get(problem.field, "")
    if problem.status != 409 or not recorded or problem.part not in ("taken", "outcome"):
        return problem
    said = f"{recorded} is already recorded. To change it, use Correct a report below."
    return replace(problem, sentences={problem.field: said})
