"""Verify a log: check every record against the hash chain, and the data stored beside the log against their
digests.
"""

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

REVEALED, KEPT, UNKNOWN, SEED = "revealed", "kept", "unknown", "seed"  # the status of a log's secret


@dataclass(frozen=True)
class IntegrityError:
    """A fault in a log: the position of the first faulty record, and what is wrong with it."""

    position: int
    what: str

    def __str__(self) -> str:
        return f"record {self.position}: {self.what}"


@dataclass(frozen=True)
class VerificationResult:
    """The result of `verify`: the number of intact records, the last hash, the first fault, and the looks.

    `n_looks` counts the looks that come where the design plans them; `n_derived` of these were derived again.
    `secret` is "revealed" if the log contains the secret that draws arms, "kept" if only this store has it, "unknown"
    if it is missing or the log is faulty, and "seed" if the arms are drawn by a seed.
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
    """Check every record of a trial against the hash chain, and the data outside the chain against their digests.

    If `head` (the hash printed by an earlier export) is given, the log must still contain that record. A log by
    itself does not show that its last records were removed.
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
    except (TypeError, AttributeError, ValueError):  # a value of the wrong type
        fault = IntegrityError(count, "data stored beside the log are not as they were written")
    if fault is None and head is not None and not seen:
        what = f"the log ends here, and no record has the hash {head}: its end was cut off, or it is another log"
        fault = IntegrityError(count, what)
    if fault is not None:
        return VerificationResult(count, before.hex(), fault)
    return VerificationResult(count, before.hex(), None, log.n_looks, log.n_derived, log.secret())


def checked_event(record: Record, before: bytes, position: int) -> AnyEvent | IntegrityError:
    """Return the event of the record at a position, or what is wrong with it. `before` is the hash of the previous
    record.
    """
    if not (isinstance(record.body, bytes) and isinstance(record.hash, bytes) and isinstance(record.position, int)):
        return IntegrityError(position, "is not stored as it was written")
    if record.position != position:
        return IntegrityError(position, f"is missing; the next one is record {record.position}")
    if link(before, record.body) != record.hash:
        return IntegrityError(position, "its hash does not match its text and the record before it")
    try:
        event = decode(record.body)
    except msgspec.DecodeError as error:
        return IntegrityError(position, f"cannot be read: {error}")
    if event.position != position or record[3:] != lookup_keys(event):
        return IntegrityError(position, "the keys stored with it differ from its text")
    if isinstance(event, Created) != (position == 1):
        return IntegrityError(position, "a trial is created in its first record and nowhere else")
    return _fault_of_created(event) or event if isinstance(event, Created) else event


def _fault_of_created(event: Created) -> IntegrityError | None:
    if event.log_format != LOG_FORMAT:
        return IntegrityError(1, f"the log has format {event.log_format}, but this version reads format {LOG_FORMAT}")
    if event.design_digest != event.design.digest:
        return IntegrityError(1, "its digest is not the digest of its design")
    if bool(event.commitment) == (event.seed is not None):
        return IntegrityError(1, "a trial has either a commitment to a secret or a seed")
    return None


class _Log:
    """A log read event by event: its state without the policy, and the data that must be stored outside the log.

    The data of a person must exist unless the person was erased.
    """

    def __init__(self, view: ReadTransaction, trial: int) -> None:
        self._view, self._trial = view, trial
        self._state: TrialState  # set by the first record, which creates the trial
        self._last_at: datetime
        self.n_looks = self.n_derived = 0
        self._latest: dict[str, int] = {}  # the latest recommendation of each subject
        self._subjects: dict[int, str] = {}  # the subject of each recommendation
        self._notes: dict[int, tuple[str, str]] = {}  # the digest and the subject of each text
        self._erased: set[str] = set()

    def follow(self, event: AnyEvent) -> IntegrityError | None:
        """Add one more event and return what is wrong with it, if anything."""
        if isinstance(event, Created):
            self._state = initial_state(event.design, NoPolicy(event.keys()))
        state = self._state
        if what := _wrong_secret(state, event) or check_looks(state, event) or self._wrong_finding(state, event):
            return IntegrityError(event.position, what)
        # Only looks need the reports of each recommendation.
        if state.looks is not None or getattr(event, "recommendation_index", None) is None:
            self._state = evolve(state, event)
        self._last_at = event.at
        self._expect(event)
        return None

    def _wrong_finding(self, state: TrialState, event: AnyEvent) -> str | None:
        """Derive a look again, unless it depends on the policy; replay checks those looks."""
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
        """Return the fault of a log that lacks its last look, ends at another record, or belongs to another trial."""
        if count and (what := missing_look(self._state, self._last_at)):
            return IntegrityError(count, what)
        head, names = self._view.head(self._trial), {number: name for name, number in self._view.trials().items()}
        if (head.position, head.hash) != (count, last):
            what = f"the log should end at record {head.position}, not {count}"
            return IntegrityError(min(count, head.position) + 1, what)
        if not count or self._state.design.name != names[self._trial]:
            return IntegrityError(1, f"it is not the log of trial {names[self._trial]!r}, under which it is stored")
        return None

    def secret(self) -> str:
        """Return where the trial's secret is known (in the log, in this store, or nowhere), or that the trial uses a
        seed.
        """
        if not (commitments := self._commitments()):
            return SEED
        if self._state.is_revealed:
            return REVEALED
        return KEPT if all(self._view.secret(one) is not None for one in commitments) else UNKNOWN

    def _commitments(self) -> list[str]:
        """Return the commitments to the secrets of all epochs, without epochs that use a seed."""
        return list(filter(None, self._state.commitments))

    def fault_outside(self, count: int) -> IntegrityError | None:
        """Return the first fault in the data outside the log: missing, superfluous or different."""
        view = self._view
        for committed in self._commitments():
            secret = view.secret(committed)  # missing if an exported log is read
            if secret is not None and not opens(committed, secret):
                return IntegrityError(1, f"the stored secret does not match the commitment {committed}")
        for subject in view.subjects(self._trial):
            known = self._latest.pop(subject.key, None) == subject.latest
            if not known or commitment(subject.salt, subject.pseudonym) != subject.key:
                return IntegrityError(count, f"the stored pseudonym of subject {subject.key} is not the one recorded")
        if self._latest:
            what = f"the pseudonym of subject {next(iter(self._latest))} is missing but was not erased"
            return IntegrityError(count, what)
        for position, (salt, text) in view.notes(self._trial).items():
            if self._notes.pop(position, ("", ""))[0] != commitment(salt, text):
                return IntegrityError(position, "its stored free text is not the one recorded")
        if gone := [at for at, (_, subject) in self._notes.items() if subject not in self._erased]:
            return IntegrityError(min(gone), "its free text is missing but was not erased")
        return None


def _wrong_secret(state: TrialState, event: AnyEvent) -> str:
    """Return what is wrong with a recommendation's epoch, or with revealed secrets."""
    if isinstance(event, Recommended) and event.epoch != state.epochs[-1]:
        return "it names another epoch than the one it was made in"
    if isinstance(event, Revealed):
        if tuple(map(_commitment, event.secrets)) != state.commitments:
            return "the secrets it reveals do not match the log's commitments"
        if state.status != "closed":
            return "its secret was revealed before the trial was closed"
    return ""


def _commitment(secret: str) -> str:
    """Return the commitment to a revealed secret: empty for an epoch with a seed, "damaged" for an unreadable
    secret.
    """
    try:
        return commitment_to(bytes.fromhex(secret)) if secret else ""
    except ValueError:
        return "damaged"
