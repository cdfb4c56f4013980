"""The same request id gets the same answer; something else asked under it is refused, and the refusal recorded."""

from __future__ import annotations

from adhere.errors import ConflictError
from adhere.trial.events import AnyEvent, Conflicted
from adhere.trial.requests import Receipt, Request
from adhere.trial.sitting import Sitting


def recorded_before(sitting: Sitting, asked: Request, digest: str, text: str | None = None) -> AnyEvent | None:
    """What was recorded when the same was asked under the same id."""
    event = sitting.answered(asked.request)
    if event is None:
        return None
    note = sitting.note_at(event.position) if getattr(event, "text", "") else None
    if event.digest == digest and (note is None or note[1] == text):
        return event
    sitting.add(Conflicted, asked.by, asked.request, of=event.position, asked=digest)
    raise ConflictError("request id", asked.request, "an id of its own: something else was asked under this one")


def receipt_again(sitting: Sitting, asked: Request, digest: str, text: str | None = None) -> Receipt | None:
    """The receipt that was given before."""
    event = recorded_before(sitting, asked, digest, text)
    return None if event is None else Receipt(event.position, getattr(event, "decision", None))
