"""What can happen in a live trial, as the log records it. A record's body is one of these in JSON.

Arms are numbers here; the first record has their names. What was taken is an arm's number, -1 for none of the arms
or -2 for something else. Records name subjects by keys and commit to free text by a digest: who and what that is
stands outside the log, where it can be erased.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from adhere.store.contract import Record
from adhere.trial.case import Case
from adhere.trial.design import Design


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    """What every record says: where it stands, when it was written, who asked, under which request id.

    `digest` is that of what was asked, so that the same id with something else asked is noticed.
    """

    position: int
    at: datetime
    by: str = ""
    request: str = ""
    digest: str = ""


class Created(Event, frozen=True, kw_only=True, tag="created"):
    """A trial begins."""

    design: Design
    law: str
    software: str


class Recommended(Event, frozen=True, kw_only=True, tag="recommended"):
    """An arm was recommended, and how it came to be: everything that a year later explains it."""

    decision: int
    subject: str
    site: str
    seen: int  # the position up to which the policy had learned
    chosen: int
    probabilities: tuple[float, ...]
    memo: tuple[float, ...] = ()
    estimated: bool = False
    key: str
    law: str
    software: str
    fallback: str = ""
    imported: bool = False  # made elsewhere and read from a table: there is nothing to draw it from again


class Repeated(Event, frozen=True, kw_only=True, tag="repeated"):
    """A recommendation was asked for, or a report made, that was there already."""

    decision: int


class Reported(Event, frozen=True, kw_only=True, tag="reported"):
    """What was taken, what came of it, or both; `happened` is when, if the reporter said so."""

    decision: int
    actual: int | None = None
    reward: float | None = None
    happened: datetime | None = None
    text: str = ""  # the salted digest of what else was taken
    kit: int | None = None  # whose kit was taken, where a kit was named


class Imputed(Event, frozen=True, kw_only=True, tag="imputed"):
    """What the trial's rule counts as reported, since nothing was heard in time."""

    decision: int
    actual: int | None = None
    reward: float | None = None


class Corrected(Event, frozen=True, kw_only=True, tag="corrected"):
    """What was reported is replaced, or taken back."""

    decision: int
    actual: int | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()
    reason: str
    text: str = ""
    kit: int | None = None


class Withdrawn(Event, frozen=True, kw_only=True, tag="withdrawn"):
    """Nothing more will be heard of a recommendation; what was reported before stays."""

    decision: int
    reason: str


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    """No more recommendations for now; reports are still taken."""

    reason: str


class Resumed(Event, frozen=True, kw_only=True, tag="resumed"):
    """Recommendations go on."""

    reason: str


class Closed(Event, frozen=True, kw_only=True, tag="closed"):
    """The trial is over; nothing more is taken."""

    reason: str


class Conflicted(Event, frozen=True, kw_only=True, tag="conflicted"):
    """Something else was asked under a request id that had been used. It was refused; this is the evidence."""

    of: int  # the position of what was asked first
    asked: str


class Erased(Event, frozen=True, kw_only=True, tag="erased"):
    """A subject's pseudonym was forgotten."""

    subject: str


class Unblinded(Event, frozen=True, kw_only=True, tag="unblinded"):
    """Somebody was told what is in a kit."""

    decision: int
    reason: str


AnyEvent: TypeAlias = (
    Created
    | Recommended
    | Repeated
    | Reported
    | Imputed
    | Corrected
    | Withdrawn
    | Paused
    | Resumed
    | Closed
    | Conflicted
    | Erased
    | Unblinded
)
encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
decode = _decoder.decode


def record_of(event: AnyEvent, body: bytes, digest: bytes) -> Record:
    """A line of the log, with what it is found by."""
    return Record(
        event.position,
        body,
        digest,
        # The evidence of a conflict repeats a request id, which stays that of the first.
        event.request or None if not isinstance(event, Conflicted) else None,
        getattr(event, "decision", None),
        event.subject if isinstance(event, Recommended) else None,
    )


def case_of(events: Iterable[AnyEvent]) -> Case:
    """What is known of a recommendation, from its records in order."""
    case: Case | None = None
    for event in events:
        case = with_event(case, event)
    assert case is not None
    return case


def with_event(case: Case | None, event: AnyEvent) -> Case:
    """A case after one more record about it."""
    if isinstance(event, Recommended):
        return Case(event.decision, event.position, event.chosen, event.memo, learns=not event.fallback)
    assert case is not None
    if isinstance(event, Reported):
        return case.reported(event.position, event.actual, event.reward, kit=event.kit)
    if isinstance(event, Imputed):
        return case.reported(event.position, event.actual, event.reward, imputed=True)
    if isinstance(event, Corrected):
        return case.corrected(event.position, event.actual, event.reward, event.retract, kit=event.kit)
    if isinstance(event, Withdrawn):
        return replace(case, withdrawn=True)
    return case


def status_after(status: str, event: AnyEvent) -> str:
    """Whether a trial is open, paused or closed after one more record."""
    if isinstance(event, Paused):
        return "paused"
    if isinstance(event, Resumed):
        return "open"
    return "closed" if isinstance(event, Closed) else status


def first_changed(before: Case, event: AnyEvent) -> int | None:
    """The first place at which a record says something anew, whether or not it says something else."""
    if not isinstance(event, Reported | Corrected):
        return None
    said = [("actual", event.actual is not None), ("reward", event.reward is not None)]
    retracted = event.retract if isinstance(event, Corrected) else ()
    parts = [getattr(before, part) for part, new in said if new or part in retracted]
    return min((part.place for part in parts if part is not None), default=None)
