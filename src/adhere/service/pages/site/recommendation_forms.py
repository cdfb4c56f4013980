"""Forms of a recommendation: reports, corrections, lost to follow-up, entered in error, unblinding."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from starlette.responses import Response

from adhere.errors import InputError
from adhere.service.pages.forms.form_reader import FormReader
from adhere.service.pages.forms.problems import NOTHING_CHANGED, FormProblem, form_problem
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.site.recommendation import recommendation_page

_REASON: Final = "Give a reason."
_OUTCOME: Final = "Type the outcome, from 0 to 1."
_WORDS: Final = {"actual": "Type the code of the kit.", "took_other": "Say what was taken."}
_CLOCKS = timedelta(minutes=1)  # the allowed difference between a device's clock and the service's


async def report_from_page(page: PageRequest) -> Response:
    """Record the treatment taken, the outcome, or both."""
    form = page.form
    part = "outcome" if "reward" in form else "taken"
    body: dict[str, Any] = {name: form[name] for name in ("actual", "took_other") if name in form}
    if form.get("took_nothing"):
        body["took_nothing"] = True
    try:
        if "reward" in form:
            body["reward"] = _outcome(form["reward"])
        body["happened"] = await _tapped(page, form.get("happened", ""))
    except InputError as error:
        return await recommendation_page(page, form_problem(part, error))
    return await _sent(page, part, "report", body)


async def correction_from_page(page: PageRequest) -> Response:
    """Correct or retract a report, or retract a loss to follow-up."""
    form = page.form
    taken, words, outcome, lost = (form.get(name, "") for name in ("taken", "words", "outcome", "lost"))
    part = "return" if lost else "correction"
    body: dict[str, Any] = {"reason": form.get("reason", "")}
    if taken.startswith("arm/"):
        body["actual"] = taken.removeprefix("arm/")
    elif taken == "nothing":
        body["took_nothing"] = True
    elif taken in _WORDS:
        body[taken] = words
    parts = (("actual", taken), ("reward", outcome), ("withdrawal", lost))
    body["retract"] = [name for name, given in parts if given == "retract"]
    reader = FormReader(form)
    if outcome not in ("", "retract"):
        chosen = FormReader({"reward": reader.text("reward") if outcome == "other" else outcome})
        body["reward"] = chosen.number("reward", "share")
        reader.problems |= chosen.problems
    _check_correction(reader, taken, outcome)
    if not any((taken, outcome, lost)) and not reader.problems:
        reader.refuse("correction", NOTHING_CHANGED)
    _check_given(reader, reason=_REASON)
    if reader.problems:
        return await recommendation_page(page, FormProblem(part, reader.problems))
    return await _sent(page, part, "correct", body)


def _check_correction(reader: FormReader, taken: str, outcome: str) -> None:
    """Note a problem for each field that was chosen for correction but has no new value, or has a value but was not
    chosen.
    """
    what = "actual" if taken == "actual" else "took_other"
    words = (what, "words", taken in _WORDS, _WORDS.get(taken, ""))
    for field, name, is_chosen, needed in (words, ("reward", "reward", outcome == "other", _OUTCOME)):
        typed = reader.text(name)
        if typed and not is_chosen:
            sentence = f"“{typed}” is typed here, and not chosen above it: choose it there, or empty this field"
            reader.refuse(field, sentence)
        elif is_chosen and not typed:
            reader.refuse(field, needed)


def _check_given(reader: FormReader, **needed: str) -> None:
    """Note a problem for each empty field, with a message that asks for its value."""
    for name, sentence in needed.items():
        if not reader.text(name):
            reader.refuse(name, sentence)


async def withdrawal_from_page(page: PageRequest) -> Response:
    """Mark a recommendation as lost to follow-up."""
    return await _sent(page, "withdrawal", "withdraw", {"reason": page.form.get("reason", "")})


async def error_from_page(page: PageRequest) -> Response:
    """Mark a recommendation as entered in error."""
    return await _sent(page, "error", "mark_in_error", {"reason": page.form.get("reason", "")})


async def unblinding_from_page(page: PageRequest) -> Response:
    """Unblind a kit of this site, or a kit that this subject has taken. Only this answer shows the arm."""
    reader = FormReader(page.form)
    _check_given(reader, kit="Type the code on the pack.", reason=_REASON)
    if reader.problems:
        return await recommendation_page(page, FormProblem("unblinding", reader.problems))
    body = {name: page.form.get(name, "") for name in ("kit", "reason")}
    body["recommendation_id"] = page.recommendation_id
    told, refusal = await page.attempt("unblind", body=body, key=page.form.get("key", ""))
    if refusal:
        return await recommendation_page(page, form_problem("unblinding", refusal))
    return await recommendation_page(page, unblinded=told)


async def _sent(page: PageRequest, part: str, operation: str, body: dict[str, Any]) -> Response:
    """Call the operation with the form's key and subject, and show the recommendation again."""
    named = {"subject": page.form["subject"]} if page.form.get("subject") else {}
    _, refusal = await page.attempt(operation, body=body | named, key=page.form.get("key", ""))
    if refusal:
        return await recommendation_page(page, form_problem(part, refusal))
    return page.redirect(page.address("trials", page.trial, "recommendations", page.recommendation_id))


def _outcome(text: str) -> int | float:
    reader = FormReader({"reward": text})
    value = reader.number("reward", "share")
    if value is None:
        raise InputError("reward", text, "a number from 0 to 1", reader.problems.get("reward", _OUTCOME))
    return value


async def _tapped(page: PageRequest, text: str) -> str | None:
    """Return the time of the tap by the device's clock, or None if that is implausible; then the arrival time counts.

    Every tap sends its time, because a repeated tap must have the same content under the same key.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    made: datetime = (await page.call("show_recommendation")).at
    if at.tzinfo is None or not made - _CLOCKS <= at <= datetime.now(UTC) + _CLOCKS:
        return None
    return max(at, made).isoformat()
