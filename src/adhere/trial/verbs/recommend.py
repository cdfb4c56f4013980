"""What becomes of each kind of request: what is checked, what is recorded, what is answered."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from adhere.errors import ConflictError, InputError, UnknownError
from adhere.trial.checks import LONGEST_TEXT, checked_text
from adhere.trial.events import Closed, Erased, Paused, Recommended, Repeated, Resumed, Unblinded, Withdrawn
from adhere.trial.idempotency import receipt_again, recorded_before
from adhere.trial.kits import decision_of, kit_code
from adhere.trial.reporting import correct, examine, report
from adhere.trial.requests import (
    Advice,
    Answer,
    AnyRequest,
    ChangeStatus,
    Correct,
    Erase,
    Examine,
    Receipt,
    Recommend,
    Report,
    Unblind,
    Withdraw,
)
from adhere.trial.sitting import File, Sitting, digest_of, pseudonym_of, refuse_closed

SOFTWARE = version("adhere")
_STATUS_EVENTS = {"paused": Paused, "open": Resumed, "closed": Closed}


def handle(sitting: Sitting, request: AnyRequest) -> Answer:
    """Do what is asked; raises an `InputError` before anything is recorded if it cannot be done."""
    return _HANDLERS[type(request)](sitting, request)


def _recommend(sitting: Sitting, asked: Recommend) -> Answer:
    pseudonym = pseudonym_of(asked)
    known = sitting.subject(pseudonym)
    subject = known or sitting.new_subject(pseudonym)
    digest = digest_of("recommend", subject.key, asked.site)
    if again := recorded_before(sitting, asked, digest):
        assert isinstance(again, Recommended | Repeated)
        return advice(sitting, sitting.file(again.decision))
    refuse_closed(sitting)
    if sitting.status == "paused":
        raise ConflictError("trial", asked.trial, "a trial that is not paused")
    if known is not None and known.latest is not None and not sitting.design.repeats:
        latest = sitting.file(known.latest)
        if latest.case.is_open:
            sitting.add(Repeated, asked.by, asked.request, digest, decision=latest.case.decision)
            return advice(sitting, latest)
    if known is None:
        sitting.enrol(subject)
    made = sitting.engine.decide_or_fall_back(sitting.state, sitting.decisions)
    sitting.state = made.state
    event = sitting.add(
        Recommended,
        asked.by,
        asked.request,
        digest,
        decision=sitting.decisions,
        subject=subject.key,
        site=asked.site or "",
        seen=sitting.position,
        chosen=made.chosen,
        probabilities=made.probabilities,
        memo=made.memo,
        estimated=sitting.engine.estimated and not made.fallback,
        key=sitting.engine.key,
        law=sitting.engine.law,
        software=SOFTWARE,
        fallback=made.fallback,
    )
    sitting.decisions += 1
    sitting.follow(pseudonym, event.decision)
    return advice(sitting, sitting.file(event.decision))


def _withdraw(sitting: Sitting, asked: Withdraw) -> Answer:
    file = sitting.file_for(asked.recommendation, asked.site)
    reason = checked_text("reason", asked.reason, LONGEST_TEXT)
    digest = digest_of("withdraw", asked.recommendation, reason, asked.site)
    if again := receipt_again(sitting, asked, digest):
        return again
    refuse_closed(sitting)
    if file.case.withdrawn:
        raise ConflictError("recommendation", asked.recommendation, "one that was not withdrawn before")
    said = {"decision": asked.recommendation, "reason": reason}
    event = sitting.add(Withdrawn, asked.by, asked.request, digest, **said)
    return Receipt(event.position, asked.recommendation)


def _change_status(sitting: Sitting, asked: ChangeStatus) -> Answer:
    reason = checked_text("reason", asked.reason, LONGEST_TEXT)
    if asked.status not in _STATUS_EVENTS:
        raise InputError("status", asked.status, f"one of {', '.join(_STATUS_EVENTS)}")
    digest = digest_of("status", asked.status, reason)
    if again := receipt_again(sitting, asked, digest):
        return again
    refuse_closed(sitting)
    if asked.status == sitting.status:
        raise ConflictError("trial", asked.trial, f"a trial that is not {asked.status} already")
    sitting.status = asked.status
    kind: Any = _STATUS_EVENTS[asked.status]
    return Receipt(sitting.add(kind, asked.by, asked.request, digest, reason=reason).position)


def _unblind(sitting: Sitting, asked: Unblind) -> Answer:
    decision = decision_of(sitting.design.seed, checked_text("kit", asked.kit), sitting.decisions)
    reason = checked_text("reason", asked.reason, LONGEST_TEXT)
    digest = digest_of("unblind", decision, reason)
    file = sitting.file(decision)
    if not recorded_before(sitting, asked, digest):
        sitting.add(Unblinded, asked.by, asked.request, digest, decision=decision, reason=reason)
    return Advice(decision, sitting.design.arms[file.case.chosen], kit_code(sitting.design.seed, decision))


def _erase(sitting: Sitting, asked: Erase) -> Answer:
    pseudonym = pseudonym_of(asked)
    known = sitting.subject(pseudonym)
    digest = digest_of("erase", known.key if known else None)
    if again := receipt_again(sitting, asked, digest):
        return again
    if known is None:
        raise UnknownError("subject", asked.subject, "a subject of this trial that was not erased")
    event = sitting.add(Erased, asked.by, asked.request, digest_of("erase", None), subject=known.key)
    sitting.erase(known)
    return Receipt(event.position)


def advice(sitting: Sitting, file: File) -> Advice:
    """What is told of a recommendation: the arm, or in a blinded trial the kit."""
    decision, design = file.case.decision, sitting.design
    if design.blinded:
        return Advice(decision, kit=kit_code(design.seed, decision))
    return Advice(decision, arm=design.arms[file.case.chosen])


_HANDLERS: dict[type, Callable[[Sitting, Any], Answer]] = {
    Recommend: _recommend,
    Report: report,
    Correct: correct,
    Withdraw: _withdraw,
    ChangeStatus: _change_status,
    Unblind: _unblind,
    Erase: _erase,
    Examine: examine,
}
