"""One trial within one transaction: what is known of it, and what is added to its log."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from adhere.errors import ConflictError, InputError, UnknownError
from adhere.store.contract import Found, Head, Record, Subject, Writing
from adhere.trial.case import Case
from adhere.trial.chain import commitment, link
from adhere.trial.checks import checked_text
from adhere.trial.design import Design
from adhere.trial.engine import Engine
from adhere.trial.events import (
    AnyEvent,
    Event,
    Recommended,
    case_of,
    decode,
    encode,
    first_changed,
    record_of,
    with_event,
)
from adhere.trial.fold import (
    Standing,
    decode_standing,
    encode_standing,
    fold,
    is_kept,
    learn_at_end,
    standing_of,
    state_from,
)
from adhere.trial.requests import Erase, Recommend

SomeEvent = TypeVar("SomeEvent", bound=Event)


@dataclass(frozen=True)
class LiveTrial:
    """What of a trial never changes, so that it is kept between transactions."""

    number: int
    design: Design
    engine: Engine


@dataclass
class File:
    """One recommendation: its first record and what is known by now."""

    first: Recommended
    case: Case


class Sitting:
    """A trial in a transaction.

    Nothing of it outlives the transaction, so that a commit that fails leaves no trace.
    """

    def __init__(
        self, writing: Writing, live: LiveTrial, now: Callable[[], datetime], taken: tuple[Head, Found]
    ) -> None:
        self.design, self.engine, self.now = live.design, live.engine, now
        self._writing, self._number = writing, live.number
        head, found = taken
        self.position, self._hash = head.position, head.hash
        standing = decode_standing(head.snapshot)
        if standing is None or standing.law != self.engine.law:
            # What another law made of the log is no use to this one.
            writing.drop_states(live.number, 0)
            standing = standing_of(writing, live.number, self.engine, head.position)
        self.status, self.decisions, self.examined = standing.status, standing.decisions, standing.examined
        self.state = state_from(standing.state)
        self._records: list[Record] = []
        self._enrolled: dict[str, Subject] = {}
        self._followed: dict[str, Subject] = {}
        self._kept: list[tuple[int, bytes]] = []
        self._requests: dict[str, AnyEvent] = {request: decode(body) for request, body in found.requests.items()}
        self._files: dict[int, File] = {}
        self._add_files(found.cases)
        self._subjects: dict[str, Subject] = dict(found.subjects)

    def _add_files(self, cases: Any) -> None:
        for decision, bodies in cases.items():
            events = [decode(body) for body in bodies]
            assert isinstance(events[0], Recommended)
            self._files[decision] = File(events[0], case_of(events))

    def file(self, decision: int) -> File:
        """A recommendation that is known to be there."""
        if decision not in self._files:
            self._add_files(self._writing.cases(self._number, [decision]))
        return self._files[decision]

    def files(self, decisions: Sequence[int]) -> list[File]:
        """Several recommendations, in order."""
        unknown = [decision for decision in decisions if decision not in self._files]
        self._add_files(self._writing.cases(self._number, unknown))
        return [self._files[decision] for decision in decisions]

    def file_for(self, decision: int, site: str | None) -> File:
        """A recommendation a site may see; of another site's it learns no more than of one that is not there."""
        if 0 <= decision < self.decisions:
            found = self.file(decision)
            if site is None or found.first.site == site:
                return found
        raise UnknownError("recommendation", decision, "the number of a recommendation made for this site")

    def subject(self, pseudonym: str) -> Subject | None:
        """Who goes by a pseudonym."""
        return self._subjects.get(pseudonym)

    def new_subject(self, pseudonym: str) -> Subject:
        """A person not met before; `enrol` enters them."""
        salt = secrets.token_bytes(16)
        return Subject(pseudonym, commitment(salt, pseudonym), salt)

    def enrol(self, subject: Subject) -> None:
        """Enter a new subject with the transaction."""
        self._subjects[subject.pseudonym] = self._enrolled[subject.pseudonym] = subject

    def follow(self, pseudonym: str, decision: int) -> None:
        """Note a subject's latest recommendation."""
        subject = self._subjects[pseudonym] = self._subjects[pseudonym]._replace(latest=decision)
        (self._enrolled if pseudonym in self._enrolled else self._followed)[pseudonym] = subject

    def answered(self, request: str) -> AnyEvent | None:
        """What was recorded under a request id."""
        return self._requests.get(request) if request else None

    def add(
        self, kind: Callable[..., SomeEvent], by: str, request: str = "", digest: str = "", **said: Any
    ) -> SomeEvent:
        """Add a record to the log, and learn from it if it teaches something."""
        self.position += 1
        event = kind(position=self.position, at=self.now(), by=by, request=request, digest=digest, **said)
        body = encode(event)
        self._hash = link(self._hash, body)
        record = record_of(event, body, self._hash)  # type: ignore[arg-type]  # every kind of event is one of AnyEvent
        self._records.append(record)
        if record.request:
            self._requests[record.request] = event  # type: ignore[assignment]
        self._take_in(event)
        if is_kept(self.position):
            self._kept.append((self.position, self.state.tobytes()))
        return event

    def _take_in(self, event: Any) -> None:
        if isinstance(event, Recommended):
            self._files[event.decision] = File(event, with_event(None, event))
            return
        decision = getattr(event, "decision", None)
        if decision is None:
            return
        file = self.file(decision)
        before, after = file.case, with_event(file.case, event)
        file.case = after
        learned = learn_at_end(self.engine, self.state, before, after, self.position)
        changed = first_changed(before, event) if self.design.blinded else None
        if changed is not None:
            # Folding only where the arm is another one would tell a site, by the time it takes, which kits are alike.
            learned = changed
        self.state = self._folded(learned) if isinstance(learned, int) else learned

    def _folded(self, place: int) -> Any:
        """The state now, worked out again from the last kept one before a place whose lesson changed."""
        self._write()
        kept = self._writing.state_before(self._number, place)
        after, state = (kept[0], state_from(kept[1])) if kept else (0, self.engine.first_state)
        self._writing.drop_states(self._number, place)
        return fold(self._writing, self._number, self.engine, state, after, self.position, self._keep)

    def _keep(self, position: int, state: Any) -> None:
        if position != self.position:  # where `add` is about to keep it
            self._writing.keep_state(self._number, position, state.tobytes())

    def note(self, position: int, salt: bytes, text: str) -> None:
        """Keep free text beside a record."""
        self._writing.note(self._number, position, salt, text)

    def note_at(self, position: int) -> tuple[bytes, str] | None:
        """The free text kept beside a record."""
        return self._writing.notes(self._number).get(position)

    def forget(self, decisions: Iterable[int]) -> None:
        """Let go of recommendations that are done with, where there are many; whoever asks for one reads it again."""
        self._write()
        for decision in decisions:
            del self._files[decision]

    def erase(self, subject: Subject) -> None:
        """Forget a subject, and the free text that was reported of them."""
        self._write()
        del self._subjects[subject.pseudonym]
        self._writing.erase(self._number, subject)

    def _write(self) -> None:
        standing = Standing(self.state.tobytes(), self.engine.law, self.decisions, self.status, self.examined)
        if self._enrolled:
            self._writing.enrol(self._number, list(self._enrolled.values()))
        for subject in self._followed.values():
            self._writing.follow(self._number, subject)
        head = Head(self.position, self._hash, encode_standing(standing))
        self._writing.append(self._number, self._records, head)
        for position, state in self._kept:
            self._writing.keep_state(self._number, position, state)
        self._records, self._enrolled, self._followed, self._kept = [], {}, {}, []

    def finish(self) -> None:
        """Hand everything to the store."""
        self._write()


def digest_of(*said: Any) -> str:
    """A digest of what a request asks."""
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:32]


def pseudonym_of(asked: Recommend | Erase) -> str:
    """What a subject is known by: sites number their subjects each for itself."""
    site = checked_text("site", asked.site) if asked.site else ""
    if "/" in site:  # or two sites could mean the same person
        raise InputError("site", site, "a name without a slash")
    return f"{site}/{checked_text('subject', asked.subject)}"


def refuse_closed(sitting: Sitting) -> None:
    """A closed trial takes nothing more."""
    if sitting.status == "closed":
        raise ConflictError("trial", sitting.design.name, "a trial that is not closed")
