"""The events of a live trial. The body of a log record is one of these in JSON.

Arms are numbers here; the first record has their names. What was taken is an arm's number, -1 for nothing in the arm
set or -2 for something else. Events name subjects by keys and free text by a digest: pseudonyms and texts are kept
outside the log, where they can be erased.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

import msgspec

from adhere.store import ReadTransaction, Record
from adhere.trial.design import Design
from adhere.trial.engine import Engine

LOG_FORMAT = 5  # raised by every change of what follows
READABLE_FORMATS = (2, 3, 4, LOG_FORMAT)  # other formats are refused
DIGESTED_FORMATS = (4, LOG_FORMAT)  # whose first record has the digest of the design
_SEED_IN_DESIGN = 3  # formats up to this one had the seed in the design, and beside it the policy's horizon


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event", gc=False):
    """What every record has: its position, when it was written, who sent the command, under which request id.

    `digest` is that of the command, to detect another command under the same request id.
    """

    position: int
    at: datetime
    by: str = ""
    request_id: str = ""
    digest: str = ""


class Created(Event, frozen=True, kw_only=True, tag="created"):
    """A trial was created. A blinded one has a secret for its kits, of which only the digest is in the log.

    Everything random follows from `seed`, which is written nowhere else. Logs of older formats have no digest.
    """

    log_format: int
    seed: int
    design: Design
    design_digest: str = ""
    algorithm_version: str
    software: str
    kit_secret_digest: str = ""

    def recorded_engine(self) -> Engine:
        """The compiled policy of the trial, which was valid where it was created."""
        return self.design.recorded_engine(self.seed)


class Recommended(Event, frozen=True, kw_only=True, tag="recommended"):
    """An arm was recommended, with everything needed to derive it again."""

    recommendation_id: int
    subject: str
    site: str
    learned_up_to: int  # the last record the policy had learned from
    chosen: int
    probabilities: tuple[float, ...]
    memo: tuple[float, ...] = ()
    estimated: bool = False
    key: str
    algorithm_version: str
    software: str
    fallback: str = ""
    imported: bool = False  # made elsewhere and read from a table: it cannot be derived again
    stratum: int | None = None  # of the design's strata


class Repeated(Event, frozen=True, kw_only=True, tag="repeated"):
    """A recommendation was requested, or a report made, that existed already."""

    recommendation_id: int


class Reported(Event, frozen=True, kw_only=True, tag="reported"):
    """What was taken, the reward, or both; `happened` is when, if the reporter gave it."""

    recommendation_id: int
    actual: int | None = None
    reward: float | None = None
    happened: datetime | None = None
    text: str = ""  # the salted digest of the free text
    kit: int | None = None  # the recommendation whose kit was taken, where a kit was named


class Imputed(Event, frozen=True, kw_only=True, tag="imputed"):
    """What the trial's rule for missing reports assumes."""

    recommendation_id: int
    actual: int | None = None
    reward: float | None = None


class Corrected(Event, frozen=True, kw_only=True, tag="corrected"):
    """A report was replaced or retracted, or a withdrawal was."""

    recommendation_id: int
    actual: int | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()
    reason: str
    text: str = ""
    kit: int | None = None


class LessonRefused(Event, frozen=True, kw_only=True, tag="lesson-refused"):
    """The policy failed at the lesson counted from the record at `place`; it is skipped from here on.

    A correction that changes the lesson gives it a new try.
    """

    recommendation_id: int
    place: int
    algorithm_version: str
    reason: str


class Looked(Event, frozen=True, kw_only=True, tag="looked"):
    """The trial was looked at, as its design has it: what was found of each arm, and whether to stop.

    Statuses and the decision are the numbers of `trial.looks`. A stop is only recommended: a person ends the trial.
    """

    look: int  # from 0
    n_outcomes: int
    n_recommendations: int
    values: tuple[tuple[float | None, ...], ...] = ()  # by arm, what was compared with the thresholds
    status: tuple[int, ...]
    decision: int
    selected: int | None = None  # the arm found superior
    shares: tuple[float, ...] = ()  # the probability of each arm until the next look, if the allocation is frozen
    fallback: str = ""  # why all arms have equal shares, if the policy failed
    algorithm_version: str
    software: str


class Withdrawn(Event, frozen=True, kw_only=True, tag="withdrawn"):
    """A recommendation is lost to follow-up; earlier reports stay."""

    recommendation_id: int
    reason: str


class EnteredInError(Event, frozen=True, kw_only=True, tag="entered-in-error"):
    """A recommendation was a slip: nobody was to be treated by it. What a rule assumed of it counts no longer."""

    recommendation_id: int
    reason: str


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    """No more recommendations for now; reports are still accepted."""

    reason: str


class Resumed(Event, frozen=True, kw_only=True, tag="resumed"):
    """Recommendations go on."""

    reason: str


class Closed(Event, frozen=True, kw_only=True, tag="closed"):
    """The trial is over."""

    reason: str


class Conflicted(Event, frozen=True, kw_only=True, tag="conflicted"):
    """Another command came under a request id that was used before. It was refused; this is the evidence."""

    of: int  # position of the first command's record
    asked: str


class Erased(Event, frozen=True, kw_only=True, tag="erased"):
    """A subject's pseudonym was deleted."""

    subject: str


class Unblinded(Event, frozen=True, kw_only=True, tag="unblinded"):
    """The arm in a kit was disclosed."""

    recommendation_id: int
    reason: str


AnyEvent: TypeAlias = (
    Created
    | Recommended
    | Repeated
    | Reported
    | Imputed
    | Corrected
    | LessonRefused
    | Looked
    | Withdrawn
    | EnteredInError
    | Paused
    | Resumed
    | Closed
    | Conflicted
    | Erased
    | Unblinded
)
encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def decode(body: bytes) -> AnyEvent:
    """The event in a record's body, whichever format it was written in."""
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError:
        if (upcast := _upcast(body)) is None:
            raise
        return upcast


def _upcast(body: bytes) -> Created | None:
    """The first record of a log of an older format, in the form of this one; None for any other body."""
    fields = msgspec.json.decode(body)
    if not isinstance(fields, dict) or fields.get("event") != "created" or not isinstance(fields.get("design"), dict):
        return None
    if not isinstance(written := fields.get("log_format"), int) or written > _SEED_IN_DESIGN:
        return None
    # A horizon was a plan and no limit, which n_patients is; what a policy took from it is in the policy's text.
    design = {name: value for name, value in fields["design"].items() if name not in ("seed", "horizon")}
    return msgspec.convert({**fields, "seed": fields["design"].get("seed"), "design": design}, Created)


def lookup_keys(event: AnyEvent) -> tuple[str | None, int | None, str | None]:
    """What a record is looked up by: request id, recommendation, subject."""
    # The evidence of a conflict repeats a request id, which stays that of the first command.
    request_id = event.request_id or None if not isinstance(event, Conflicted) else None
    subject = event.subject if isinstance(event, Recommended) else None
    return request_id, getattr(event, "recommendation_id", None), subject


def to_record(event: AnyEvent, body: bytes, digest: bytes) -> Record:
    """A record of the log."""
    return Record(event.position, body, digest, *lookup_keys(event))


def created_event(view: ReadTransaction, trial: int) -> Created:
    """The first record of a trial's log."""
    created = decode(view.records(trial, 0, 1)[0].body)
    assert isinstance(created, Created)
    return created
