"""Reports of what was taken and what came of it, their correction, and what is assumed where none came."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from adhere.errors import ConflictError, InputError
from adhere.trial.case import Case
from adhere.trial.chain import commitment
from adhere.trial.checks import LONGEST_TEXT, checked_text
from adhere.trial.events import Corrected, Imputed, Repeated, Reported
from adhere.trial.idempotency import receipt_again
from adhere.trial.kits import decision_of
from adhere.trial.requests import Answer, Correct, Examine, Receipt, Report
from adhere.trial.sitting import File, Sitting, digest_of, refuse_closed
from adhere.trial.trial import arm_taken, check_same_again

CLOCK_SKEW = timedelta(minutes=5)
_AT_ONCE = 256
_PARTS = ("actual", "reward")


def report(sitting: Sitting, asked: Report) -> Answer:
    """Record what was taken, what came of it, or both; what is known already is only acknowledged."""
    file = sitting.file_for(asked.recommendation, asked.site)
    taken, kit = _taken(sitting, asked)
    reward = None if asked.reward is None else sitting.engine.check_reward(asked.reward)
    digest = digest_of("report", asked.recommendation, taken, kit, reward, asked.happened, asked.site)
    if again := receipt_again(sitting, asked, digest, asked.took_other):
        return again
    refuse_closed(sitting)
    if taken is None and reward is None:
        expected = "what was taken (actual, took_nothing or took_other), a reward, or both"
        raise InputError("report", "nothing", expected)
    if file.case.withdrawn:
        raise ConflictError("recommendation", asked.recommendation, "one that was not withdrawn")
    _check_same_again(sitting, file.case, asked.site, taken, kit, reward)
    _check_same_words(sitting, file.case, asked.took_other)
    _check_time(sitting, file, asked.happened)
    said = {"decision": asked.recommendation}
    after = file.case.reported(sitting.position + 1, taken, reward, kit=kit)
    if (after.actual, after.reward) == (file.case.actual, file.case.reward):
        return _receipt(sitting.add(Repeated, asked.by, asked.request, digest, **said))
    salt, text = _committed(asked.took_other)
    heard: dict[str, Any] = {"actual": taken, "reward": reward, "happened": asked.happened, "text": text, "kit": kit}
    event = sitting.add(Reported, asked.by, asked.request, digest, **said, **heard)
    if asked.took_other is not None:
        sitting.note(event.position, salt, asked.took_other)
    return _receipt(event)


def correct(sitting: Sitting, asked: Correct) -> Answer:
    """Record other values; the policy learns as if they had been reported in the first place."""
    file = sitting.file_for(asked.recommendation, asked.site)
    reason = checked_text("reason", asked.reason, LONGEST_TEXT)
    taken, kit = _taken(sitting, asked)
    reward = None if asked.reward is None else sitting.engine.check_reward(asked.reward)
    for part in asked.retract:
        if part not in _PARTS:
            raise InputError("retract", part, "actual or reward")
    retract = tuple(part for part in _PARTS if part in asked.retract)
    digest = digest_of("correct", asked.recommendation, taken, kit, reward, retract, reason, asked.site)
    if again := receipt_again(sitting, asked, digest, asked.took_other):
        return again
    refuse_closed(sitting)
    for part, value in (("actual", taken), ("reward", reward)):
        if part in retract and value is not None:
            raise InputError("retract", part, f"a new {part}, or {part} to be retracted, not both")
    if taken is None and reward is None and not retract:
        raise InputError("correction", "nothing", "what was taken, a reward, or what to retract")
    for part in retract:
        if getattr(file.case, part) is None:
            raise ConflictError("retract", part, "something that was reported")
    for part, value in (("actual", taken), ("reward", reward)):
        if file.case.withdrawn and value is not None and getattr(file.case, part) is None:
            raise ConflictError(part, "a new one", "a correction of what was reported before the withdrawal")
    salt, text = _committed(asked.took_other)
    said: dict[str, Any] = {"actual": taken, "reward": reward, "retract": retract, "text": text, "kit": kit}
    about = {"decision": asked.recommendation, "reason": reason}
    event = sitting.add(Corrected, asked.by, asked.request, digest, **about, **said)
    if asked.took_other is not None:
        sitting.note(event.position, salt, asked.took_other)
    return _receipt(event)


def examine(sitting: Sitting, asked: Examine) -> Answer:
    """Apply the trial's rule to each recommendation that has become old enough, once."""
    rule = sitting.design.impute
    if rule is None or sitting.status == "closed":
        return Receipt(sitting.position)
    taken, due = arm_taken(sitting.design.arms, rule.actual, rule.took_nothing), sitting.now()
    while sitting.examined < sitting.decisions:
        some = range(sitting.examined, min(sitting.examined + _AT_ONCE, sitting.decisions))
        for file in sitting.files(some):
            if file.first.at + timedelta(days=rule.after_days) > due:
                return Receipt(sitting.position)
            actual = taken if file.case.actual is None else None
            reward = rule.reward if file.case.reward is None else None
            if file.case.may_be_imputed and (actual is not None or reward is not None):
                sitting.add(Imputed, asked.by, decision=file.case.decision, actual=actual, reward=reward)
            sitting.examined += 1
        sitting.forget(some)
    return Receipt(sitting.position)


def _taken(sitting: Sitting, asked: Report | Correct) -> tuple[int | None, int | None]:
    """What was taken, and whose kit. A site in a blinded trial names a kit; it does not know the arms."""
    design = sitting.design
    if design.blinded and asked.site is not None and asked.actual is not None:
        arm_taken([asked.actual], asked.actual, asked.took_nothing, asked.took_other)
        kit = decision_of(design.seed, checked_text("actual", asked.actual), sitting.decisions)
        return sitting.file(kit).case.chosen, kit
    return arm_taken(design.arms, asked.actual, asked.took_nothing, asked.took_other), None


def _check_same_again(
    sitting: Sitting, case: Case, site: str | None, taken: int | None, kit: int | None, reward: float | None
) -> None:
    known = case.actual if case.actual is not None and not case.actual.imputed else None
    blind = sitting.design.blinded and site is not None
    # Another kit with the same arm must look like one with another arm, or kits could be sorted by trying.
    if blind and taken is not None and known is not None and (kit, taken) != (known.kit, known.value):
        raise ConflictError("actual", "another", "what was reported before, or a correction")
    try:
        check_same_again(case, sitting.design.arms, taken, reward)
    except InputError as error:
        raise ConflictError(error.field, error.value, f"{error.expected}; to change it, correct it") from None


def _check_same_words(sitting: Sitting, case: Case, words: str | None) -> None:
    known = case.actual
    if words is None or known is None or known.imputed:
        return
    note = sitting.note_at(known.place)
    if note is None or note[1] != words:
        raise ConflictError("took_other", words, "the words reported before; to change them, correct them")


def _check_time(sitting: Sitting, file: File, happened: datetime | None) -> None:
    if happened is None:
        return
    if happened.tzinfo is None:
        raise InputError("happened", happened.isoformat(), "a time with its zone, e.g. 2026-03-01T09:30:00Z")
    if happened > sitting.now() + CLOCK_SKEW:
        raise InputError("happened", happened.isoformat(), f"no time after now ({sitting.now().isoformat()})")
    if happened < file.first.at - CLOCK_SKEW:
        expected = f"no time before the recommendation ({file.first.at.isoformat()})"
        raise InputError("happened", happened.isoformat(), expected)


def _committed(text: str | None) -> tuple[bytes, str]:
    """A salt for free text and the digest that stands for it in the log."""
    if text is None:
        return b"", ""
    salt = secrets.token_bytes(16)
    return salt, commitment(salt, text)


def _receipt(event: Repeated | Reported | Corrected) -> Receipt:
    return Receipt(event.position, event.decision)
