"""Save the events of an in-memory trial as a log, the file that `adhere trial export` writes too; load them again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from adhere.errors import InputError
from adhere.files import replacing
from adhere.store import Head, Store, Subject
from adhere.store.sqlite import SqliteStore
from adhere.trial.domain.chain import START, commitment, link, walk
from adhere.trial.domain.events import (
    AnyEvent,
    Closed,
    Created,
    LessonRefused,
    Looked,
    Recommended,
    Reported,
    decode,
    encode,
    to_record,
)
from adhere.trial.log.log_file import read_log, write_log

Notes = Mapping[int, tuple[bytes, str]]  # the salt and the words of a record, by its position
_SAVED = (Created, Recommended, Reported, LessonRefused, Looked, Closed)
_NO_SALT = b""  # numbers that name nobody need no secret


def save_events(events: Sequence[AnyEvent], notes: Notes, path: Path) -> None:
    """Write a log of these events, the first of which creates the trial."""
    created = events[0]
    assert isinstance(created, Created)
    if not path.absolute().parent.is_dir():
        raise InputError("path", str(path), f"a file in an existing folder; {path.absolute().parent} does not exist")
    if path.is_dir():
        raise InputError("path", str(path), "a file, not a folder")
    with closing(SqliteStore(None)) as store:
        _write(store, created.design.name, events, notes)
        with store.reading() as view, replacing(path, private=True) as temporary:
            write_log(view, 1, temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())


def _write(store: Store, name: str, events: Sequence[AnyEvent], notes: Notes) -> None:
    records, subjects, last = [], [], START
    for event in events:
        if isinstance(event, Recommended):  # a log names a subject for each; here they are numbers
            subject = _numbered_subject(event.recommendation_index)
            subjects.append(subject)
            event = replace(event, subject=subject.key)
        body = encode(event)
        last = link(last, body)
        records.append(to_record(event, body, last))
    with store.writing() as writing:
        trial = writing.add_trial(name, Head(0, START, b""))
        writing.add_subjects(trial, subjects)
        writing.append(trial, records, Head(len(records), last, b""))
        for position, note in notes.items():
            writing.save_note(trial, position, *note)


def _numbered_subject(recommendation_index: int) -> Subject:
    pseudonym = f"/{recommendation_index}"
    return Subject(pseudonym, commitment(_NO_SALT, pseudonym), _NO_SALT, recommendation_index)


def load_events(path: Path) -> tuple[list[AnyEvent], dict[int, tuple[bytes, str]]]:
    """The events of a log that `save_events` wrote, and the free text that belongs to them."""
    if not path.is_file():
        raise InputError("path", str(path), "a file that Trial.save wrote; there is no such file")
    with closing(SqliteStore(None)) as store:
        _, fault = read_log(path, store)
        if fault is not None:
            raise InputError("path", str(path), f"a log as it was written; {fault}")
        with store.reading() as view:
            events = [decode(record.body) for record in walk(view, 1)]
            notes = {at: (salt, text) for at, (salt, text) in view.notes(1).items()}
    for event in events:
        if event.by or not isinstance(event, _SAVED):
            expected = "a log that Trial.save wrote; one of a service goes on in a service: adhere trial import"
            raise InputError("path", str(path), expected)
    return events, notes
