"""The events of a live trial. The body of a log record is one of these in JSON.

Arms are numbers here; the first record has their names. What was taken is an arm's number, -1 for nothing in the arm
set or -2 for something else. Events name subjects by keys and free text by a digest: pseudonyms and texts are kept
outside the log, where they can be erased.
"""

from datetime import datetime
from importlib.metadata import version
from typing import TypeAlias

import msgspec

from adhere.design.design import Design
from adhere.errors import InputError, UnknownPolicyError
from adhere.store import ReadTransaction, Record
from adhere.trial.policy.engine import Engine, engine_of
from adhere.trial.secret.trial_keys import SecretFinder, TrialKeys

SOFTWARE = version("adhere")
LOG_FORMAT = 7  # raised by every change of what follows; logs of other formats are refused


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event", gc=False):
    """The fields of every record: its position, when it was written, who sent the command, under which request id.

    `digest` is that of the command, to detect another command under the same request id.
    """

    position: int
    at: datetime
    by: str = ""
    request_id: str = ""
    digest: str = ""


class Created(Event, frozen=True, kw_only=True, tag="created"):
    """A trial was created.

    Arms are drawn by keys from a secret, of which the log contains only a commitment until the trial is over and the
    secret revealed. A trial in memory, or a rehearsal, may have a seed instead.
    """

    log_format: int
    commitment: str = ""
    seed: int | None = None
    design: Design
    design_digest: str
    algorithm_version: str
    software: str

    @property
    def is_live(self) -> bool:
        """Whether the trial may go on live: a real one needs a secret, because anybody can try out seeds."""
        return self.seed is None or self.design.rehearsal

    def keys(self, find: SecretFinder = lambda commitment: None) -> TrialKeys:
        """Return the keys of the trial's draws, with a function that finds secrets."""
        return TrialKeys(self.commitment, self.seed, find=find)

    def recorded_engine(self, find: SecretFinder = lambda commitment: None) -> Engine:
        """The compiled policy of the trial, which was valid where it was created."""
        try:
            return engine_of(self.design, self.keys(find))
        except InputError as error:
            hint = "if this policy is your own, give its file with --import FILE.py"
            raise UnknownPolicyError(f"trial {self.design.name!r} cannot be run here: {error}; {hint}") from error


class EpochBegun(Event, frozen=True, kw_only=True, tag="epoch-begun"):
    """Arms are drawn by a fresh secret from here on, because records may have been lost.

    Whoever saw the arms of lost records could otherwise predict those that are drawn in their place.
    """

    commitment: str
    reason: str
    n_lost: int | None = None  # records, of all trials in the store, if it is known


class Revealed(Event, frozen=True, kw_only=True, tag="revealed"):
    """The secrets of all epochs, in order, once the trial is closed: from here on anybody can draw its arms again."""

    secrets: tuple[str, ...]  # in hexadecimal digits; empty for an epoch with a seed
    reason: str


class EventAbout(Event, frozen=True, kw_only=True):
    """The fields of every record about a recommendation."""

    recommendation_index: int  # counted from 0, internal: nobody outside is shown it


class Recommended(EventAbout, frozen=True, kw_only=True, tag="recommended"):
    """An arm was recommended, with everything but the secret that is needed to derive it again."""

    recommendation_id: str
    epoch: str = ""  # the commitment of the epoch, unless it is the first one
    subject: str
    site: str
    learned_up_to: int  # the last record the policy had learned from
    chosen: int
    probabilities: tuple[float, ...]
    memo: tuple[float, ...] = ()
    estimated: bool = False
    algorithm_version: str
    software: str
    fallback: str = ""
    imported: bool = False  # made elsewhere and read from a table: it cannot be derived again
    stratum: int | None = None  # of the design's strata
    earlier: int | None = None  # index of the subject's recommendation before it, unless entries are repeated


class Repeated(EventAbout, frozen=True, kw_only=True, tag="repeated"):
    """A recommendation was requested, or a report made, that existed already."""


class Reported(EventAbout, frozen=True, kw_only=True, tag="reported"):
    """A report of what was taken, the reward, or both; `happened` is when, if the reporter gave it."""

    actual: int | None = None
    reward: float | None = None
    happened: datetime | None = None
    text: str = ""  # the salted digest of the free text
    kit: int | None = None  # the recommendation whose kit was taken, where a kit was named


class Imputed(EventAbout, frozen=True, kw_only=True, tag="imputed"):
    """The values that the trial's rule for missing reports assumes."""

    actual: int | None = None
    reward: float | None = None


class Corrected(EventAbout, frozen=True, kw_only=True, tag="corrected"):
    """A report was replaced or retracted, or a withdrawal was."""

    actual: int | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()
    reason: str
    text: str = ""
    kit: int | None = None


class UpdateRefused(EventAbout, frozen=True, kw_only=True, tag="update-refused"):
    """The policy failed at the update counted from the record at `place`; it is skipped from here on.

    A correction that changes the update gives it a new try.
    """

    place: int
    algorithm_version: str
    reason: str


class Looked(Event, frozen=True, kw_only=True, tag="looked"):
    """The trial was looked at, as its design has it: what was found of each arm, and whether to stop.

    Statuses and the decision are the numbers of `looks.judge`. A stop is only recommended: a person ends the trial.
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


class Withdrawn(EventAbout, frozen=True, kw_only=True, tag="withdrawn"):
    """A recommendation is lost to follow-up; earlier reports stay."""

    reason: str


class EnteredInError(EventAbout, frozen=True, kw_only=True, tag="entered-in-error"):
    """A recommendation was an entry error: nobody was to be treated by it. What a rule assumed of it is void."""

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


class Unblinded(EventAbout, frozen=True, kw_only=True, tag="unblinded"):
    """The arm in a kit was disclosed."""

    reason: str


AnyEvent: TypeAlias = (
    Created
    | EpochBegun
    | Revealed
    | Recommended
    | Repeated
    | Reported
    | Imputed
    | Corrected
    | UpdateRefused
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
decode = _decoder.decode  # the event in a record's body


def lookup_keys(event: AnyEvent) -> tuple[str | None, int | None, str | None]:
    """The keys that a record is looked up by: request id, index of the recommendation, subject."""
    # The evidence of a conflict repeats a request id, which stays that of the first command.
    request_id = event.request_id or None if not isinstance(event, Conflicted) else None
    subject = event.subject if isinstance(event, Recommended) else None
    return request_id, getattr(event, "recommendation_index", None), subject


def to_record(event: AnyEvent, body: bytes, digest: bytes) -> Record:
    """A record of the log."""
    return Record(event.position, body, digest, *lookup_keys(event))


def created_event(view: ReadTransaction, trial: int) -> Created:
    """The first record of a trial's log."""
    created = decode(view.records(trial, 0, 1)[0].body)
    assert isinstance(created, Created)
    return created
