"""The events of a live trial. The body of each log record is one of these events in JSON.

Events contain the indices of arms; the first record has the arms' names. The arm taken is an index, -1 for none of
the arms, or -2 for another treatment. Events name subjects by keys, and free text by a digest. Pseudonyms and texts
are stored outside the log, where they can be erased.
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
LOG_FORMAT = 7  # raised by every change to the definitions below; logs in other formats are refused


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event", gc=False):
    """The fields of every record: its position, its time, the sender of the command, and the request ID.

    `digest` is the digest of the command. It detects a different command under the same request ID.
    """

    position: int
    at: datetime
    by: str = ""
    request_id: str = ""
    digest: str = ""


class Created(Event, frozen=True, kw_only=True, tag="created"):
    """The creation of a trial.

    Arms are drawn by keys from a secret. The log contains only a commitment to the secret until the trial is closed
    and the secret revealed. A trial in memory, or a rehearsal, may have a seed instead.
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
        """Return whether the trial may run live. A real trial needs a secret, because seeds can be guessed."""
        return self.seed is None or self.design.rehearsal

    def keys(self, find: SecretFinder = lambda commitment: None) -> TrialKeys:
        """Return the keys of the trial's draws. `find` looks up the secret of a commitment."""
        return TrialKeys(self.commitment, self.seed, find=find)

    def recorded_engine(self, find: SecretFinder = lambda commitment: None) -> Engine:
        """Return the trial's compiled policy. Raise `UnknownPolicyError` if it cannot be made here."""
        try:
            return engine_of(self.design, self.keys(find))
        except InputError as error:
            hint = "if this policy is your own, give its file with --import FILE.py"
            raise UnknownPolicyError(f"trial {self.design.name!r} cannot be run here: {error}; {hint}") from error


class EpochBegun(Event, frozen=True, kw_only=True, tag="epoch-begun"):
    """A new epoch: arms are drawn by a fresh secret from here on, because records may have been lost.

    Otherwise, anyone who saw the arms of lost records could predict the arms drawn in their place.
    """

    commitment: str
    reason: str
    n_lost: int | None = None  # number of lost records of all trials in the store, if it is known


class Revealed(Event, frozen=True, kw_only=True, tag="revealed"):
    """The secrets of all epochs in order, revealed after the trial is closed. Anybody can then draw its arms
    again.
    """

    secrets: tuple[str, ...]  # in hexadecimal digits; empty for an epoch with a seed
    reason: str


class EventAbout(Event, frozen=True, kw_only=True):
    """The fields of every record about a recommendation."""

    recommendation_index: int  # from 0; internal, never shown to users


class Recommended(EventAbout, frozen=True, kw_only=True, tag="recommended"):
    """A recommendation, with everything needed to derive it again except the secret."""

    recommendation_id: str
    epoch: str = ""  # the epoch's commitment; empty for the first epoch
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
    imported: bool = False  # made elsewhere and read from a table, so it cannot be derived again
    stratum: int | None = None  # index into the design's strata
    earlier: int | None = None  # index of the subject's previous recommendation, unless entries are repeated


class Repeated(EventAbout, frozen=True, kw_only=True, tag="repeated"):
    """A repeated request for a recommendation, or a repeated report, that was already recorded."""


class Reported(EventAbout, frozen=True, kw_only=True, tag="reported"):
    """A report of the treatment taken, the reward, or both. `happened` is the time of the event, if the reporter gave
    it.
    """

    actual: int | None = None
    reward: float | None = None
    happened: datetime | None = None
    text: str = ""  # the salted digest of the free text
    kit: int | None = None  # index of the recommendation whose kit was taken, if a kit was named


class Imputed(EventAbout, frozen=True, kw_only=True, tag="imputed"):
    """The values that the trial's rule for missing reports assumes."""

    actual: int | None = None
    reward: float | None = None


class Corrected(EventAbout, frozen=True, kw_only=True, tag="corrected"):
    """A report that was replaced or retracted, or a retracted withdrawal."""

    actual: int | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()
    reason: str
    text: str = ""
    kit: int | None = None


class UpdateRefused(EventAbout, frozen=True, kw_only=True, tag="update-refused"):
    """An update at which the policy failed. It is skipped from here on.

    `place` is the position of the record that first reported the value. A correction that changes the update lets the
    policy try again.
    """

    place: int
    algorithm_version: str
    reason: str


class Looked(Event, frozen=True, kw_only=True, tag="looked"):
    """A look at the trial that its design planned: the findings for each arm, and whether to stop.

    Statuses and the decision are the codes of `looks.judge`. A stop is only recommended: a person ends the trial.
    """

    look: int  # from 0
    n_outcomes: int
    n_recommendations: int
    values: tuple[tuple[float | None, ...], ...] = ()  # per arm, the values compared with the thresholds
    status: tuple[int, ...]
    decision: int
    selected: int | None = None  # the arm found superior
    shares: tuple[float, ...] = ()  # the probability of each arm until the next look, if the allocation is frozen
    fallback: str = ""  # why all arms have equal shares, if the policy failed
    algorithm_version: str
    software: str


class Withdrawn(EventAbout, frozen=True, kw_only=True, tag="withdrawn"):
    """A recommendation that is lost to follow-up. Earlier reports remain valid."""

    reason: str


class EnteredInError(EventAbout, frozen=True, kw_only=True, tag="entered-in-error"):
    """An entry error: the recommendation was not meant for any patient. Values that a rule imputed for it are
    void.
    """

    reason: str


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    """A pause: no new recommendations, but reports are still accepted."""

    reason: str


class Resumed(Event, frozen=True, kw_only=True, tag="resumed"):
    """The end of a pause: new recommendations are made again."""

    reason: str


class Closed(Event, frozen=True, kw_only=True, tag="closed"):
    """The end of the trial."""

    reason: str


class Conflicted(Event, frozen=True, kw_only=True, tag="conflicted"):
    """Another command under a request ID that was used before. It was refused; this record is the evidence."""

    of: int  # position of the first command's record
    asked: str


class Erased(Event, frozen=True, kw_only=True, tag="erased"):
    """The deletion of a subject's pseudonym."""

    subject: str


class Unblinded(EventAbout, frozen=True, kw_only=True, tag="unblinded"):
    """The disclosure of the arm in a kit."""

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
decode = _decoder.decode  # decodes the event in a record's body


def lookup_keys(event: AnyEvent) -> tuple[str | None, int | None, str | None]:
    """Return the keys by which a record is found: request ID, index of the recommendation, and subject."""
    # The record of a conflict repeats a request ID, which must still lead to the first command.
    request_id = event.request_id or None if not isinstance(event, Conflicted) else None
    subject = event.subject if isinstance(event, Recommended) else None
    return request_id, getattr(event, "recommendation_index", None), subject


def to_record(event: AnyEvent, body: bytes, digest: bytes) -> Record:
    """Return the log record of an event."""
    return Record(event.position, body, digest, *lookup_keys(event))


def created_event(view: ReadTransaction, trial: int) -> Created:
    """Return the first record of a trial's log."""
    created = decode(view.records(trial, 0, 1)[0].body)
    assert isinstance(created, Created)
    return created
