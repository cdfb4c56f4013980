"""Verify a log: every record against the hash chain, and what is kept beside the log against its digests."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import msgspec

from adhere.store import ReadTransaction, Record
from adhere.trial.domain.due_looks import check_looks, compare_looks, missing_look
from adhere.trial.domain.events import (
    LOG_FORMAT,
    AnyEvent,
    Corrected,
    Created,
    Erased,
    Looked,
    Recommended,
    Reported,
    Revealed,
    decode,
    lookup_keys,
)
from adhere.trial.domain.evolve import evolve
from adhere.trial.domain.log_records import START, commitment, link, read_histories, walk
from adhere.trial.domain.state import NoPolicy, TrialState, initial_state
from adhere.trial.secret.trial_secret import commitment_to, opens

REVEALED, KEPT, UNKNOWN, SEED = "revealed", "kept", "unknown", "seed"  # what is known of the secret of a log


@dataclass(frozen=True)
class IntegrityError:
    """The first record that was changed, and what is wrong with it."""

    position: int
    what: str

    def __str__(self) -> str:
        return f"record {self.position}: {self.what}"


@dataclass(frozen=True)
class VerificationResult:
    """The result of `verify`: the number of intact records, the last hash, the first fault, and looks.

    `n_looks` are those that stand where the design has them, `n_derived` of them those derived again. `secret` says
    whether the secret that draws arms is in the log ("revealed"), is only kept here ("kept"), is not known here, as
    with a log that was changed ("unknown"), or there is none ("seed").
    """

    n_records: int
    head: str
    fault: IntegrityError | None = None
    n_looks: int = 0
    n_derived: int = 0
    secret: str = UNKNOWN


def verify(
    view: ReadTransaction, trial: int, head: str | None = None, on_progress: Callable[[int], None] = lambda n: None
) -> VerificationResult:
    """Check every record of a trial against the chain, and what is kept outside it against its digests.

    With `head`, the hash printed by an earlier export, the log must still contain that record: a log alone does not
    show that its last records were cut off.
    """
    before, count, seen = START, 0, False
    log = _Log(view, trial)
    for record in walk(view, trial, on_progress):
        event = checked_event(record, before, count + 1)
        fault = event if isinstance(event, IntegrityError) else log.follow(event)
        if fault is not None:
            return VerificationResult(count, before.hex(), fault)
        before, count = record.hash, count + 1
        seen = seen or before.hex() == head
    try:
        fault = log.fault_at_end(count, before) or log.fault_outside(count)
    except (TypeError, AttributeError, ValueError):  # a value of another type than was written
        fault = IntegrityError(count, "what is kept beside the log is not as it was written")
    if fault is None and head is not None and not seen:
        what = f"the log ends here, and no record has the hash {head}: its end was cut off, or it is another log"
        fault = IntegrityError(count, what)
    if fault is not None:
        return VerificationResult(count, before.hex(), fault)
    return VerificationResult(count, before.hex(), None, log.n_looks, log.n_derived, log.secret())


def checked_event(record: Record, before: bytes, position: int) -> AnyEvent | IntegrityError:
    """The event of the record at a position, after a record with this hash; or what is wrong with the record."""
    if not (isinstance(record.body, bytes) and isinstance(record.hash, bytes) and isinstance(record.position, int)):
        return IntegrityError(position, "is not stored as it was written")
    if record.position != position:
        return IntegrityError(position, f"is missing; the next one is record {record.position}")
    if link(before, record.body) != record.hash:
        return IntegrityError(position, "its hash does not fit its text and the record before it")
    try:
        event = decode(record.body)
    except msgspec.DecodeError as error:
        return IntegrityError(position, f"cannot be read: {error}")
    if event.position != position or record[3:] != lookup_keys(event):
        return IntegrityError(position, "what it is found by differs from its text")
    if isinstance(event, Created) != (position == 1):
        return IntegrityError(position, "a trial is created in its first record and nowhere else")
    return _fault_of_created(event) or event if isinstance(event, Created) else event


def _fault_of_created(event: Created) -> IntegrityError | None:
    if event.log_format != LOG_FORMAT:
        return IntegrityError(1, f"the log has format {event.log_format}, and this version reads format {LOG_FORMAT}")
    if event.design_digest != event.design.digest:
        return IntegrityError(1, "the digest in it is not that of its design")
    if bool(event.commitment) == (event.seed is not None):
        return IntegrityError(1, "a trial has either a commitment to a secret or a seed")
    return None


class _Log:
    """A log read event by event: its state, without the policy, and what must be kept outside it according to it.

    What is kept of a person must be there unless the person was erased.
    """

    def __init__(self, view: ReadTransaction, trial: int) -> None:
        self._view, self._trial = view, trial
        self._state: TrialState  # from the first record on, which creates the trial
        self._last_at: datetime
        self.n_looks = self.n_derived = 0
        self._latest: dict[str, int] = {}  # the latest recommendation of each subject
        self._subjects: dict[int, str] = {}  # whose each recommendation is
        self._notes: dict[int, tuple[str, str]] = {}  # the digest of each text, and whom it is about
        self._erased: set[str] = set()

    def follow(self, event: AnyEvent) -> IntegrityError | None:
        """Take in one more event; returns what is wrong with it, if anything is."""
        if isinstance(event, Created):
            self._state = initial_state(event.design, NoPolicy(event.keys()))
        state = self._state
        if what := _wrong_secret(state, event) or check_looks(state, event) or self._wrong_finding(state, event):
            return IntegrityError(event.position, what)
        # Only looks need what was reported of each recommendation.
        if state.looks is not None or getattr(event, "recommendation_index", None) is None:
            self._state = evolve(state, event)
        self._last_at = event.at
        self._expect(event)
        return None

    def _wrong_finding(self, state: TrialState, event: AnyEvent) -> str | None:
        """Derive a look again, unless it hangs on the policy, which is left to replay."""
        looker, looks = state.looker, state.looks
        if not isinstance(event, Looked) or looker is None or looks is None:
            return None
        self.n_looks += 1
        if looker.needs_beliefs:
            return None
        self.n_derived += 1
        patients = read_histories(self._view, self._trial, until=state.position)
        found = looker.find(event.look, looks, (), patients)
        return compare_looks(event, msgspec.structs.replace(event, **found._asdict()))

    def _expect(self, event: AnyEvent) -> None:
        if isinstance(event, Recommended):
            self._latest[event.subject] = event.recommendation_index
            self._subjects[event.recommendation_index] = event.subject
        elif isinstance(event, Reported | Corrected) and event.text:
            self._notes[event.position] = (event.text, self._subjects[event.recommendation_index])
        elif isinstance(event, Erased):
            self._latest.pop(event.subject, None)
            self._notes = {at: note for at, note in self._notes.items() if note[1] != event.subject}
            self._erased.add(event.subject)

    def fault_at_end(self, count: int, last: bytes) -> IntegrityError | None:
        """Return the fault of a log that lacks a look at its end, ends elsewhere, or is another trial's."""
        if count and (what := missing_look(self._state, self._last_at)):
            return IntegrityError(count, what)
        head, names = self._view.head(self._trial), {number: name for name, number in self._view.trials().items()}
        if (head.position, head.hash) != (count, last):
            what = f"the log should end at record {head.position}, not {count}"
            return IntegrityError(min(count, head.position) + 1, what)
        if not count or self._state.design.name != names[self._trial]:
            return IntegrityError(1, f"it is not the log of the trial it is kept as, {names[self._trial]!r}")
        return None

    def secret(self) -> str:
        """Return who can draw the arms again."""
        if not (commitments := self._commitments()):
            return SEED
        if self._state.is_revealed:
            return REVEALED
        return KEPT if all(self._view.secret(one) is not None for one in commitments) else UNKNOWN

    def _commitments(self) -> list[str]:
        """The commitments to secrets, without those of epochs with a seed."""
        return list(filter(None, self._state.commitments))

    def fault_outside(self, count: int) -> IntegrityError | None:
        """Return the first thing outside the log that is missing, superfluous or different."""
        view = self._view
        for committed in self._commitments():
            secret = view.secret(committed)  # a log that was exported is read without it
            if secret is not None and not opens(committed, secret):
                return IntegrityError(1, f"the secret kept for the commitment {committed} is another one")
        for subject in view.subjects(self._trial):
            known = self._latest.pop(subject.key, None) == subject.latest
            if not known or commitment(subject.salt, subject.pseudonym) != subject.key:
                return IntegrityError(count, f"the pseudonym kept for subject {subject.key} is not the one recorded")
        if self._latest:
            what = f"the pseudonym of subject {next(iter(self._latest))} is missing, and was not erased"
            return IntegrityError(count, what)
        for position, (salt, text) in view.notes(self._trial).items():
            if self._notes.pop(position, ("", ""))[0] != commitment(salt, text):
                return IntegrityError(position, "the free text kept for it is not the one recorded")
        if gone := [at for at, (_, subject) in self._notes.items() if subject not in self._erased]:
            return IntegrityError(min(gone), "its free text is missing, and was not erased")
        return None


def _wrong_secret(state: TrialState, event: AnyEvent) -> str:
    """Return what is wrong with the epoch that a recommendation names, or with secrets that are revealed."""
    if isinstance(event, Recommended) and event.epoch != state.epochs[-1]:
        return "the epoch it names is not the one that it was made in"
    if isinstance(event, Revealed):
        if tuple(map(_commitment, event.secrets)) != state.commitments:
            return "the secrets revealed in it are not those that the log has commitments to"
        if state.status != "closed":
            return "its secret was revealed before the trial was closed"
    return ""


def _commitment(secret: str) -> str:
    """The commitment to a secret that was revealed; empty for an epoch with a seed, and for what is no secret."""
    try:
        return commitment_to(bytes.fromhex(secret)) if secret else ""
    except ValueError:
        return "damaged"
