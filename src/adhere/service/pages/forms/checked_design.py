"""Check the design that was typed, and find all its mistakes at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError
from adhere.service.pages.forms.design_form import design_json, place_of
from adhere.service.pages.forms.form_reader import FormReader
from adhere.service.pages.forms.without import without
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.problem import shown_problem
from adhere_client.responses.simulations import PolicyDetails
from adhere_client.responses.trials import CheckedDesign

_WORDS: Final = {"n_patients": "the largest number of patients", "reward_values": "the values an outcome can have"}
_MAX_CHECKS: Final = 30  # more than the form has fields that the API can refuse one after the other


async def check_typed(
    page: PageRequest, form: Mapping[str, str], policies: Sequence[PolicyDetails]
) -> CheckedDesign | dict[str, str]:
    """The design that was typed, or a sentence for each field that is wrong.

    The API names one mistake at a time. A field that was refused is left out, with those that depend on it, and the
    rest is checked again.
    """
    problems: dict[str, str] = {}
    left = dict(form)
    for _ in range(_MAX_CHECKS):
        reader = FormReader(left)
        text = design_json(reader, policies)
        found = {place: sentence for place, sentence in reader.problems.items() if place not in problems}
        if not found and not reader.problems:
            answer = await _answer(page, text, form)
            if isinstance(answer, CheckedDesign):
                return problems or answer
            found = {place: sentence for place, sentence in answer.items() if place not in problems}
        if not found:  # a field that is left out already is asked for
            break
        problems |= found
        for place in found:
            left = without(left, place)
    return problems


async def _answer(page: PageRequest, text: str, form: Mapping[str, str]) -> CheckedDesign | dict[str, str]:
    try:
        checked: Any = await page.call("check_design", body={"design": text})
    except (InputError, ProblemError) as error:
        problem = shown_problem(error)
        return {place_of(problem.field, form): _in_the_forms_words(problem.beside)}
    assert isinstance(checked, CheckedDesign)
    return checked


def _in_the_forms_words(sentence: str) -> str:
    """A sentence of the API in the words of the form.

    >>> _in_the_forms_words("Got 'a/b', expected a name without a slash.")
    "Type a name without a slash, not 'a/b'."
    """
    for name, label in _WORDS.items():
        sentence = sentence.replace(name, label)
    sentence = re.sub(r"^Got (.*?), expected (.*)\.$", r"Type \2, not \1.", sentence, flags=re.DOTALL)
    return f"{sentence[:1].upper()}{sentence[1:]}"
