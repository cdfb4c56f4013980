"""Verify a log: every record against the hash chain, and what is kept beside the log against its digests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from adhere.store import ReadTransaction, Record
from adhere.trial.domain.chain import START, commitment, link, walk
from adhere.trial.domain.events import (
    LOG_FORMAT,
    AnyEvent,
    Closed,
    Corrected,
    Created,
    EpochBegun,
    Erased,
    Recommended,
    Reported,
    Revealed,
    decode,
    lookup_keys,
)
from adhere.trial.looks.look_check import LookCheck
from adhere.trial.secret.trial_secret import commitment_to, opens

REVEALED, KEPT, UNKNOWN, SEED = "revealed", "kept", "unknown", "seed"  # what is known of the secret of a log


@dataclass(frozen=True)
class Fault:
    """The first record that was changed, and what is wrong with it."""

    position: int
    what: str

    def __str__(self) -> str:
        return f"record {self.position}: {self.what}"


@dataclass(frozen=True)
class Verdict:
    """The result of `verify`: the number of intact records, the last hash, the first fault, and looks.

    `n_looks` are those that stand where the design has them, `n_derived` of them those derived again. `secret` says
    whether the secret that draws arms is in the log ("revealed"), is only kept here ("kept"), is not known here, as
    with a log that was changed ("unknown"), or there is none ("seed").
    """

    n_records: int
    head: str
    fault: Fault | None = None
    n_looks: int = 0
    n_derived: int = 0
    secret: str = UNKNOWN


def verify(
    view: ReadTransaction, trial: int, head: str | None = None, on_progress: Callable[[int], None] = lambda n: None
) -> Verdict:
    """Check every record of a trial against the chain, and what is kept outside it against its digests.

    With `head`, the hash printed by an earlier export, the log must still contain that record: a log alone does not
    show that its last records were cut off.
    """
    before, count, seen = START, 0, False
    outside, looks = _Outside(), None
    for record in walk(view, trial, on_progress):
        count += 1
        event = checked_event(record, before, count)
        if isinstance(event, Fault):
            return Verdict(count - 1, before.hex(), event)
        outside.expect(event)
        if outside.secrets.fault:
            return Verdict(count - 1, before.hex(), Fault(count, outside.secrets.fault))
        if isinstance(event, Created):
            looks = LookCheck(event.design)
        elif looks is not None and (what := looks.follow(event)) is not None:
            return Verdict(count - 1, before.hex(), Fault(count, what))
        before = record.hash
        seen = seen or before.hex() == head
    if looks is not None and (what := looks.missing_at_end()) is not None:
        return Verdict(count, before.hex(), Fault(count, what))
    try:
        fault = _fault_of_head(view, trial, count, before) or outside.fault(view, trial, count)
    except (TypeError, AttributeError, ValueError):  # a value of another type than was written
        fault = Fault(count, "what is kept beside the log is not as it was written")
    if fault:
        return Verdict(count, before.hex(), fault)
    if head is not None and not seen:
        what = f"the log ends here, and no record has the hash {head}: its end was cut off, or it is another log"
        return Verdict(count, before.hex(), Fault(count, what))
    n_looks = (0, 0) if looks is None else (looks.n_looks, looks.n_derived)
    return Verdict(count, before.hex(), None, *n_looks, outside.secrets.known(view))


def checked_event(record: Record, before: bytes, position: int) -> AnyEvent | Fault:
    """The event of the record at a position, after a record with this hash; or what is wrong with the record."""
    if not (isinstance(record.body, bytes) and isinstance(record.hash, bytes) and isinstance(record.position, int)):
        return Fault(position, "is not stored as it was written")
    if record.position != position:
        return Fault(position, f"is missing; the next one is record {record.position}")
    if link(before, record.body) != record.hash:
        return Fault(position, "its hash does not fit its text and the record before it")
    try:
        event = decode(record.body)
    except msgspec.DecodeError as error:
        return Fault(position, f"cannot be read: {error}")
    if event.position != position or record[3:] != lookup_keys(event):
        return Fault(position, "what it is found by differs from its text")
    if isinstance(event, Created) != (position == 1):
        return Fault(position, "a trial is created in its first record and nowhere else")
    return _fault_of_created(event) or event if isinstance(event, Created) else event


def _fault_of_created(event: Created) -> Fault | None:
    if event.log_format != LOG_FORMAT:
        return Fault(1, f"the log has format {event.log_format}, and this version reads format {LOG_FORMAT}")
    if event.design_digest != event.design.digest:
        return Fault(1, "the digest in it is not that of its design")
    if bool(event.commitment) == (event.seed is not None):
        return Fault(1, "a trial has either a commitment to a secret or a seed")
    return None


def _fault_of_head(view: ReadTransaction, trial: int, count: int, last: bytes) -> Fault | None:
    head = view.head(trial)
    if (head.position, head.hash) != (count, last):
        return Fault(min(count, head.position) + 1, f"the log should end at record {head.position}, not {count}")
    first = decode(view.records(trial, 0, 1)[0].body) if count else None
    names = {number: name for name, number in view.trials().items()}
    if not isinstance(first, Created) or first.design.name != names[trial]:
        return Fault(1, f"it is not the log of the trial it is kept as, {names[trial]!r}")
    return None


class _Secrets:
    """The commitments of a log, the epoch of each recommendation, and the secrets if they were revealed."""

    def __init__(self) -> None:
        self.commitments: list[str] = []  # without those of epochs with a seed
        self.fault = ""
        self.is_revealed = False
        self._epochs: list[str] = []
        self._is_closed = False

    def follow(self, event: AnyEvent) -> None:
        """Follow a record."""
        if isinstance(event, Created | EpochBegun):
            self._epochs.append(event.commitment)
            self.commitments = list(filter(None, self._epochs))
        elif isinstance(event, Recommended) and event.epoch != (self._epochs[-1] if len(self._epochs) > 1 else ""):
            self.fault = "the epoch it names is not the one that it was made in"
        elif isinstance(event, Closed):
            self._is_closed = True
        elif isinstance(event, Revealed):
            self.is_revealed = True
            self.fault = "" if self._is_closed else "its secret was revealed before the trial was closed"
            if [_commitment(text) for text in event.secrets] != self._epochs:
                self.fault = "the secrets revealed in it are not those that the log has commitments to"

    def known(self, view: ReadTransaction) -> str:
        """Return who can draw the arms again."""
        if not self.commitments:
            return SEED
        if self.is_revealed:
            return REVEALED
        return KEPT if all(view.secret(commitment) is not None for commitment in self.commitments) else UNKNOWN


def _commitment(secret: str) -> str:
    """The commitment to a secret that was revealed; empty for an epoch with a seed, and for what is no secret."""
    try:
        return commitment_to(bytes.fromhex(secret)) if secret else ""
    except ValueError:
        return "damaged"


class _Outside:
    """What must be kept outside a log according to it, unless the person was erased."""

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}  # the latest recommendation of each subject
        self._subjects: dict[int, str] = {}  # whose each recommendation is
        self.secrets = _Secrets()
        self._notes: dict[int, tuple[str, str]] = {}  # the digest of each text, and whom it is about
        self._erased: set[str] = set()

    def expect(self, event: AnyEvent) -> None:
        """Follow a record."""
        self.secrets.follow(event)
        if isinstance(event, Recommended):
            self._latest[event.subject] = event.recommendation_index
            self._subjects[event.recommendation_index] = event.subject
        elif isinstance(event, Reported | Corrected) and event.text:
            self._notes[event.position] = (event.text, self._subjects[event.recommendation_index])
        elif isinstance(event, Erased):
            self._latest.pop(event.subject, None)
            self._notes = {at: note for at, note in self._notes.items() if note[1] != event.subject}
            self._erased.add(event.subject)

    def fault(self, view: ReadTransaction, trial: int, count: int) -> Fault | None:
        """The first thing that is missing, superfluous or different."""
        for committed in self.secrets.commitments:
            secret = view.secret(committed)  # a log that was exported is read without it
            if secret is not None and not opens(committed, secret):
                return Fault(1, f"the secret kept for the commitment {committed} is another one")
        for subject in view.subjects(trial):
            known = self._latest.pop(subject.key, None) == subject.latest
            if not known or commitment(subject.salt, subject.pseudonym) != subject.key:
                return Fault(count, f"the pseudonym kept for subject {subject.key} is not the one recorded")
        if self._latest:
            return Fault(count, f"the pseudonym of subject {next(iter(self._latest))} is missing, and was not erased")
        for position, (salt, text) in view.notes(trial).items():
            if self._notes.pop(position, ("", ""))[0] != commitment(salt, text):
                return Fault(position, "the free text kept for it is not the one recorded")
        # An older version kept what was said about people after they had been erased, until this one deleted it.
        if missing := [at for at, (_, subject) in self._notes.items() if subject not in self._erased]:
            return Fault(min(missing), "its free text is missing, and was not erased")
        return None
