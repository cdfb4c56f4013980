"""Handle one trial within one transaction of a store: its state, and the events added to its log."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from adhere.design.design import Design
from adhere.errors import UnavailableError
from adhere.store import Fetched, Head, Record, Subject, WriteTransaction
from adhere.store.subjects import erase, is_erased, is_made_for, latest_of, looking_alike
from adhere.trial.domain.due_looks import look_due, looked, needs_policy
from adhere.trial.domain.events import (
    AnyEvent,
    Closed,
    EpochBegun,
    Erased,
    Looked,
    Recommended,
    decode,
    encode,
    to_record,
)
from adhere.trial.domain.evolve import refused_event
from adhere.trial.domain.log_records import link, read_histories
from adhere.trial.domain.looker import Patients
from adhere.trial.domain.state import TrialState
from adhere.trial.policy.engine import Engine
from adhere.trial.secret.kits import Kits
from adhere.trial.secret.trial_secret import commitment_to, new_secret
from adhere.trial.verbs.context import Change
from adhere.trial.writing.running_state import Projection, project
from adhere.trial.writing.snapshot import encode_snapshot, restored_state, usable_snapshot


@dataclass
class LiveTrial:
    """A trial between transactions: its design, its compiled policy, and the updates since the last checkpoint.

    The updates are those after the record at `tail_position`. A transaction takes them and returns them only after
    its commit, so that a failed transaction has no effect.
    """

    number: int
    design: Design
    engine: Engine
    kits: Kits
    is_live: bool = True  # whether it accepts commands; a trial saved from memory does not
    tail: dict[int, bytes] | None = None
    tail_position: int = 0
    n_examined: int | None = None  # how many recommendations the rule for missing reports has examined, if known
    position: int = 0  # of the last record that this process has seen committed
    has_lost_records: bool = False  # since the last epoch began

    @property
    def is_ready(self) -> bool:
        """Return whether the policy is loaded and the caches are derived."""
        return self.engine.is_loaded and self.n_examined is not None


class TrialTransaction:
    """A trial in a transaction. It is discarded with the transaction, so a failed commit has no effect."""

    def __init__(self, store: WriteTransaction, live: LiveTrial, head: Head, fetched: Fetched) -> None:
        self._store, self._live, self._number, self._hash = store, live, live.number, head.hash
        self.kits, self.engine, self.is_live = live.kits, live.engine, live.is_live
        snapshot = usable_snapshot(live.engine, head)
        if snapshot is None:
            self._projection = project(store, store, live.number, live.design, live.engine)
        else:
            state = restored_state(live.design, live.engine, snapshot, head.position)
            tail = live.tail if live.tail_position == head.position else None
            self._projection = Projection(store, store, live.number, state, snapshot.n_updates, tail, self._write)
        live.tail = None
        # The database of a running service may be replaced by an older one, for example when PostgreSQL is restored.
        self.has_lost_records = live.has_lost_records or head.position < live.position
        # Whether everything that a command may need is available: the compiled policy, and the secrets in use.
        keys = live.engine.keys
        self.is_ready = live.engine.is_loaded and keys.has(keys.commitment) and keys.has(self.state.epoch)
        self._projection.add(fetched.histories.items())
        self._fetched = fetched.histories.keys()  # the recommendations that this transaction's commands name
        self._by_request_id = {request_id: decode(body) for request_id, body in fetched.requests.items()}
        self._subjects = dict(fetched.subjects)
        self._records: list[Record] = []
        self._new_subjects: dict[str, Subject] = {}
        self._known_subjects: dict[str, Subject] = {}
        self._notes: list[tuple[int, bytes, str]] = []
        self.events: list[AnyEvent] = []

    @property
    def state(self) -> TrialState:
        """The trial's state after all events so far."""
        return self._projection.state

    def begin_epoch(self, at: datetime, reason: str) -> None:
        """Begin an epoch with a fresh secret that draws all later arms."""
        secret = new_secret()
        commitment = commitment_to(secret)
        self._store.save_secret(self._number, commitment, secret)
        self.engine.keys.add(commitment, secret)
        position = self.state.position + 1
        self.append(Change(EpochBegun(position=position, at=at, commitment=commitment, reason=reason)))
        self.has_lost_records = False

    def load(self, recommendation_indices: Iterable[int]) -> None:
        """Load the histories of existing recommendations."""
        self._projection.load(recommendation_indices)

    def catch_up(self) -> None:
        """Update the policy's state with corrections."""
        self._projection.catch_up()
        self._append_refusals()

    def recorded(self, request_id: str) -> AnyEvent | None:
        """Return the event recorded under a request ID."""
        return self._by_request_id.get(request_id) if request_id else None

    def subject(self, pseudonym: str) -> Subject | None:
        """Return the subject with a pseudonym."""
        return self._subjects.get(pseudonym)

    def latest_of(self, key: str) -> int | None:
        """Return the index of the latest recommendation of the subject with a key, erased or not."""
        known = [subject.latest for subject in self._subjects.values() if subject.key == key]
        return known[0] if known else latest_of(self._store, self._number, key)

    def latest_alike(self, subject: Subject) -> int | None:
        """Return the index of the latest recommendation of another subject of the site with a similar code, or None.

        Subjects that are new in this transaction are included, because its commands may come from many requests.
        """
        site, _, code = subject.pseudonym.partition("/")
        new = [one for one in self._new_subjects.values() if one.pseudonym.partition("/")[0] == site]
        found = [one for one in new if one.folded == subject.folded]
        found += looking_alike(self._store, self._number, site, code)
        others = (one.latest for one in found if one.pseudonym != subject.pseudonym)
        return next((latest for latest in others if latest is not None), None)

    def is_made_for(self, recommendation_index: int, pseudonym: str) -> bool:
        """Return whether a recommendation was made for the subject with a pseudonym."""
        return is_made_for(self._store, self._number, recommendation_index, pseudonym)

    def text_of(self, position: int) -> str | None:
        """Return the free text of a record."""
        new = [text for at, _, text in self._notes if at == position]
        return new[0] if new else self._store.note(self._number, position)

    def is_erased(self, recommendation_index: int) -> bool:
        """Return whether the subject of a recommendation was erased, in this transaction or before."""
        return is_erased(self._store, self._number, recommendation_index)

    def append(self, change: Change) -> AnyEvent:
        """Add an event to the log, store its data outside the log, and add the refusals and looks that follow from
        it.
        """
        event, projection = change.event, self._projection
        if isinstance(event, Closed) and self._can_look():
            self.look(event.at, is_end=True)
        position = projection.state.position + 1
        if event.position != position:  # one of several changes, after a refused update
            event = replace(event, position=position)
        body = encode(event)
        self._hash = link(self._hash, body)
        record = to_record(event, body, self._hash)
        self._records.append(record)
        if record.request_id:
            self._by_request_id[record.request_id] = event
        self.events.append(event)
        projection.apply(event)
        if isinstance(event, Recommended) and change.subject is not None:
            self._save_subject(change.subject)
        elif isinstance(event, Erased) and change.subject is not None:
            self._write()
            del self._subjects[change.subject.pseudonym]
            erase(self._store, self._number, change.subject)
        if change.note is not None:
            self._notes.append((event.position, *change.note))
        if projection.state.refusals:
            self._append_refusals()
        if projection.state.looks is not None and not isinstance(event, Looked):
            self.look(event.at)
        return event

    def look(self, at: datetime, *, is_end: bool = False) -> None:
        """Record the looks that are due. At the end of a trial the last look is always recorded."""
        while not self.state.refusals and (number := look_due(self.state, at, is_end=is_end)) is not None:
            if self.state.relearn_from is not None and needs_policy(self.state):
                self.catch_up()  # this may record refusals, and looks after them
                continue
            self.append(Change(looked(self.state, number, at, self._patients())))

    def _can_look(self) -> bool:
        """Return whether a look is possible. A trial can be closed even if its policy no longer compiles."""
        if needs_policy(self.state):
            try:
                self.engine.ensure_loaded()
            except UnavailableError:
                return False
        return True

    def _patients(self) -> Patients:
        """Yield all recommendations so far with their histories."""
        self._write()
        yield from read_histories(self._store, self._number)

    def _append_refusals(self) -> None:
        """Record the updates that the policy refused, after the events that caused them."""
        while self.state.refusals and self.events:
            first = refused_event(self.state, self.events[-1].at)
            self._projection.load([first.recommendation_index])
            self.append(Change(first))

    def _save_subject(self, subject: Subject) -> None:
        is_new = subject.pseudonym not in self._subjects or subject.pseudonym in self._new_subjects
        (self._new_subjects if is_new else self._known_subjects)[subject.pseudonym] = subject
        self._subjects[subject.pseudonym] = subject

    def mark_examined(self, recommendation_indices: range) -> None:
        """Record that the rule for missing reports was applied to some recommendations, and drop their histories.

        Histories fetched for other commands remain: they are looked up by ID or by subject only once.
        """
        self._write()
        self._projection.forget(index for index in recommendation_indices if index not in self._fetched)
        self._projection.state = replace(self.state, n_examined=recommendation_indices.stop)

    def finish(self) -> None:
        """Write all changes to the store."""
        self.catch_up()
        self._projection.table.flush()
        self._write()

    def committed(self) -> None:
        """Make the reusable parts of the state available to the next transaction."""
        self._live.tail, self._live.tail_position = self._projection.tail, self.state.position
        self._live.n_examined, self._live.position = self.state.n_examined, self.state.position
        self._live.has_lost_records = self.has_lost_records  # until a recommendation begins an epoch

    def _write(self) -> None:
        if self._new_subjects:
            self._store.add_subjects(self._number, list(self._new_subjects.values()))
        for subject in self._known_subjects.values():
            self._store.set_latest(self._number, subject)
        snapshot = encode_snapshot(self.state, self._projection.table.n_updates)
        self._store.append(self._number, self._records, Head(self.state.position, self._hash, snapshot))
        for note in self._notes:
            self._store.save_note(self._number, *note)
        self._records, self._new_subjects, self._known_subjects, self._notes = [], {}, {}, []
