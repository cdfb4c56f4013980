"""Check the whole form by leaving out each refused field and checking the remaining fields again."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from adhere.service.pages.forms.form_reader import FormReader
from adhere.service.pages.forms.problems import shown_problem
from adhere.service.pages.new_trial.design_form import THRESHOLDS, design_json, form_field
from adhere.service.pages.page_request import PageRequest
from adhere_client.responses.simulations import PolicyDetails
from adhere_client.responses.trials import CheckedDesign

_STOPPING: Final = tuple(f"stopping.{name}" for name in (*THRESHOLDS, "margin", "alpha", "boundary", "mirrored"))
_STAND_INS: Final = {"name": "name", "arms": "first\nsecond", "policy": "uniform"}  # required fields
# For each field, the fields that depend on it and are left out with it.
_ALONG: Final = {
    "arms": ("control",),
    "reward_values": ("outcome_words", "impute.reward"),
    "impute.after_days": ("impute.reward", "impute.took_nothing"),
    "impute.reward": ("impute.after_days", "impute.took_nothing"),
    "looks.numbers": ("looks", "update"),
    "stopping.by": _STOPPING,
    "stopping.margin": ("stopping.equivalence", "stopping.futility"),
    "stopping.superiority": ("stopping.mirrored",),
    "burn-in.patients": ("strata",),
}


def without_field(form: Mapping[str, str], place: str) -> dict[str, str]:
    r"""Return the form without a field and without the fields that depend on it.

    >>> without_field({"arms": "walk", "control": "walk", "n_patients": "40"}, "arms")
    {'arms': 'first\nsecond', 'n_patients': '40'}
    """
    left = {name: typed for name, typed in form.items() if name not in (place, *_ALONG.get(place, ()))}
    if place in ("n_patients", "looks.numbers"):  # the number of looks depends on these fields
        several = [f"stopping.{name}" for name in THRESHOLDS]
        left = {name: typed for name, typed in left.items() if name not in several or len(typed.split()) < 2}
    if place.startswith("stopping.") and not any(left.get(name) for name in _STOPPING):
        left.pop("stopping.by", None)
    if place == "n_patients":
        left[place] = str(_enough_patients(form))
    elif place in _STAND_INS:
        left[place] = _STAND_INS[place]
    return {name: left[name] for name in form if name in left} | left


def _enough_patients(form: Mapping[str, str]) -> int:
    """Return a number of patients that is large enough for the looks and the burn-in."""
    reader = FormReader(form)
    typed = [*reader.numbers("looks.numbers", "whole"), reader.number("burn-in.patients", "whole") or 0]
    return 10 * int(max(100, *typed))


_WORDS: Final = {"n_patients": "the largest number of patients", "reward_values": "the values an outcome can have"}
_MAX_CHECKS: Final = 30  # more than the number of fields that the API can refuse


async def check_typed(
    page: PageRequest, form: Mapping[str, str], policies: Sequence[PolicyDetails]
) -> CheckedDesign | dict[str, str]:
    """Return the typed design, or a message for each wrong field.

    The API reports one mistake at a time. A refused field is left out together with the fields that depend on it, and
    the rest is checked again.
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
        if not found:  # the API asks for a field that is already left out
            break
        problems |= found
        for place in found:
            left = without_field(left, place)
    return problems


async def _answer(page: PageRequest, text: str, form: Mapping[str, str]) -> CheckedDesign | dict[str, str]:
    checked: CheckedDesign
    checked, refusal = await page.attempt("check_design", body={"design": text})
    if refusal:
        problem = shown_problem(refusal)
        return {form_field(problem.field, form): _in_the_forms_words(problem.beside)}
    return checked


def _in_the_forms_words(sentence: str) -> str:
    """Return a message of the API in the words of the form.

    >>> _in_the_forms_words("Got 'a/b', expected a name without a slash.")
    "Type a name without a slash, not 'a/b'."
    """
    for name, label in _WORDS.items():
        sentence = sentence.replace(name, label)
    sentence = re.sub(r"^Got (.*?), expected (.*)\.$", r"Type \2, not \1.", sentence, flags=re.DOTALL)
    return f"{sentence[:1].upper()}{sentence[1:]}"
