"""The chain of hashes: each record's hash covers its body and the hash before it, so that no byte changes unseen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from adhere.store.contract import Reading, Record
from adhere.trial.events import AnyEvent, Created, Recommended, decode, record_of

START: Final = bytes(32)


def link(before: bytes, body: bytes) -> bytes:
    """The hash of a record, from that of the record before it."""
    return hashlib.sha256(before + body).digest()


def commitment(salt: bytes, text: str) -> str:
    """A digest that stands for a text and says nothing of it once the salt is gone."""
    return hashlib.sha256(salt + text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Fault:
    """The first record that is not as it was written, and what is wrong with it."""

    position: int
    what: str

    def __str__(self) -> str:
        return f"record {self.position}: {self.what}"


@dataclass(frozen=True)
class Verdict:
    """What `verify` found: how far the log is whole, its last hash, and the first fault."""

    n_records: int
    head: str
    fault: Fault | None = None


def walk(view: Reading, trial: int, tell: Callable[[int], None] = lambda n: None) -> Iterator[Record]:
    """All records of a trial, in order."""
    after = 0
    while some := view.records(trial, after):
        yield from some
        after = some[-1].position
        tell(len(some))


def verify(
    view: Reading, trial: int, head: str | None = None, tell: Callable[[int], None] = lambda n: None
) -> Verdict:
    """Check every record of a trial against the chain, and what is kept outside it against its digests.

    With `head`, the hash printed by an earlier export, the log must still contain that record: without it, nobody can
    see from a log alone that its end was cut off.
    """
    before, count, seen = START, 0, False
    subjects: dict[str, int] = {}  # the latest recommendation of each
    notes: dict[int, str] = {}
    for record in walk(view, trial, tell):
        count += 1
        if fault := fault_in(record, before, count):
            return Verdict(count - 1, before.hex(), fault)
        event = decode(record.body)
        if isinstance(event, Recommended):
            subjects[event.subject] = event.decision
        if text := getattr(event, "text", ""):
            notes[event.position] = text
        before = record.hash
        seen = seen or before.hex() == head
    if fault := _fault_beside(view, trial, count, before, subjects, notes):
        return Verdict(count, before.hex(), fault)
    if head is not None and not seen:
        what = f"the log ends here, and no record has the hash {head}: its end was cut off, or it is another log"
        return Verdict(count, before.hex(), Fault(count, what))
    return Verdict(count, before.hex())


def fault_in(record: Record, before: bytes, position: int) -> Fault | None:
    """What is wrong with a record that should stand at a position, after a record with this hash."""
    if record.position != position:
        return Fault(position, f"is missing; the next one is record {record.position}")
    if link(before, record.body) != record.hash:
        return Fault(position, "its hash does not fit its text and the record before it")
    event: AnyEvent | None
    try:
        event = decode(record.body)
    except msgspec.DecodeError as error:
        return Fault(position, f"cannot be read: {error}")
    if record_of(event, record.body, record.hash) != record:
        return Fault(position, "what it is found by differs from its text")
    if isinstance(event, Created) != (position == 1):
        return Fault(position, "a trial is created in its first record and nowhere else")
    return None


def _fault_beside(
    view: Reading, trial: int, count: int, last: bytes, subjects: dict[str, int], notes: dict[int, str]
) -> Fault | None:
    head = view.head(trial)
    if (head.position, head.hash) != (count, last):
        return Fault(min(count, head.position) + 1, f"the log should end at record {head.position}, not {count}")
    for subject in view.subjects(trial):
        known = subjects.get(subject.key) == subject.latest
        if not known or commitment(subject.salt, subject.pseudonym) != subject.key:
            return Fault(count, f"the pseudonym kept for subject {subject.key} is not the one recorded")
    for position, (salt, text) in view.notes(trial).items():
        if notes.get(position) != commitment(salt, text):
            return Fault(position, "the free text kept for it is not the one recorded")
    return None
