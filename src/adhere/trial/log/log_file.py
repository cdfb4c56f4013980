"""A trial's log in a file of its own, line by line in JSON: to keep, to verify and replay anywhere, to move.

The first line says what it is; then come the records, each with its hash; then the pseudonyms and free texts that are
kept outside the chain; and the head. The kit secret of a blinded trial is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from adhere.errors import InputError
from adhere.store import Head, ReadTransaction, Record, Store, Subject, WriteTransaction
from adhere.store.erasing import erase_missing
from adhere.trial.events import LOG_FORMAT, READABLE_FORMATS, Created, created_event, decode, to_record
from adhere.trial.kits import is_kit_secret
from adhere.trial.log.chain import START, Fault, checked_event, verify, walk

_AT_ONCE = 1000


class Start(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="adhere-log"):
    """What the file is. Files of format 1 have no such field."""

    format: int = 1
    trial: str


class RecordLine(msgspec.Struct, frozen=True, tag_field="line", tag="record", forbid_unknown_fields=True):
    """A record, its body letter by letter; the hash is in base64, as all bytes are."""

    hash: bytes
    body: str


class SubjectLine(msgspec.Struct, frozen=True, tag_field="line", tag="subject", forbid_unknown_fields=True):
    """A subject whose key is in the log."""

    subject: Subject


class NoteLine(msgspec.Struct, frozen=True, tag_field="line", tag="note", forbid_unknown_fields=True):
    """Free text of a record."""

    position: int
    salt: bytes
    text: str


class End(msgspec.Struct, frozen=True, tag_field="line", tag="head", forbid_unknown_fields=True):
    """How many records there are, and the hash of the last."""

    position: int
    hash: str


_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Start | RecordLine | SubjectLine | NoteLine | End] = msgspec.json.Decoder(
    Start | RecordLine | SubjectLine | NoteLine | End
)


def write_log(
    view: ReadTransaction, trial: int, path: Path, on_progress: Callable[[int], None] = lambda n: None
) -> str:
    """Write a trial's log; returns its head."""
    name = created_event(view, trial).design.name
    with path.open("wb") as file:
        file.write(_encode(Start(format=LOG_FORMAT, trial=name)) + b"\n")
        for record in walk(view, trial, on_progress):
            file.write(_encode(RecordLine(record.hash, record.body.decode())) + b"\n")
        for subject in view.subjects(trial):
            file.write(_encode(SubjectLine(subject)) + b"\n")
        for position, (salt, text) in view.notes(trial).items():
            file.write(_encode(NoteLine(position, salt, text)) + b"\n")
        head = view.head(trial)
        file.write(_encode(End(head.position, head.hash.hex())) + b"\n")
    return head.hash.hex()


def read_log(
    path: Path, store: Store, on_progress: Callable[[int], None] = lambda n: None
) -> tuple[str, Fault | None]:
    """Read a log into a store, to look at; returns the trial's name, and the first fault: then nothing was kept."""
    return _read(path, store, on_progress, lambda writing, trial: None)


def import_log(
    path: Path, store: Store, kit_secret: bytes | None, on_progress: Callable[[int], None] = lambda n: None
) -> tuple[str, Fault | None]:
    """Read a log into a store, for the trial to go on there, which a blinded one cannot without its kit secret."""

    def save_secret(writing: WriteTransaction, trial: int) -> None:
        created = created_event(writing, trial)
        if kit_secret is None:
            if created.kit_secret_digest:
                expected = "that of this blinded trial: --kit-secret FILE, which adhere trial export writes too"
                raise InputError("kit secret", "none", expected)
            return
        if not created.kit_secret_digest:
            why = "it was created before kits had a secret" if created.design.blinded else "it is not blinded"
            raise InputError("kit secret", "one", f"none for this trial: {why}")
        if not is_kit_secret(created, kit_secret):
            raise InputError("kit secret", "another", "the one whose digest is in the first record of the log")
        writing.save_kit_secret(trial, kit_secret)

    return _read(path, store, on_progress, save_secret)


def _read(
    path: Path, store: Store, on_progress: Callable[[int], None], finish: Callable[[WriteTransaction, int], None]
) -> tuple[str, Fault | None]:
    reading = _LogReading(path, on_progress)
    try:
        with store.writing() as writing:
            finish(writing, reading.into(writing))
    except _FaultyError as error:
        return reading.name, error.fault
    return reading.name, None


class _FaultyError(Exception):
    def __init__(self, position: int, what: str) -> None:
        self.fault = Fault(position, what)


class _LogReading:
    def __init__(self, path: Path, on_progress: Callable[[int], None]) -> None:
        self._path, self._on_progress = path, on_progress
        self.name = ""
        self._count, self._hash = 0, START
        self._waiting: list[Record] = []

    def into(self, writing: WriteTransaction) -> int:
        lines = self._lines()
        first = next(lines, None)
        if not isinstance(first, Start):
            raise InputError("file", str(self._path), "a .log file that adhere trial export or Trial.save wrote")
        if first.format not in READABLE_FORMATS:
            found = f"a log of format {first.format}"
            known = " or ".join(map(str, READABLE_FORMATS))
            raise InputError("file", found, f"format {known}, which this version of adhere reads")
        self.name = first.trial
        end: End | None = None
        subjects: list[Subject] = []
        trial = writing.add_trial(self.name, Head(0, START, b""))
        for line in lines:
            if end is not None:
                raise _FaultyError(self._count, "something follows the end of the log")
            if isinstance(line, RecordLine):
                self._take(line)
                if len(self._waiting) == _AT_ONCE:
                    self._write(writing, trial)
            elif isinstance(line, SubjectLine):
                subjects.append(line.subject)
                if len(subjects) == _AT_ONCE:
                    writing.add_subjects(trial, subjects)
                    subjects = []
            elif isinstance(line, NoteLine):
                if not 1 <= line.position <= self._count:
                    raise _FaultyError(
                        self._count, f"a free text belongs to record {line.position}, which is not there"
                    )
                writing.save_note(trial, line.position, line.salt, line.text)
            elif isinstance(line, End):
                end = line
        if not self._count or end is None or (end.position, end.hash) != (self._count, self._hash.hex()):
            raise _FaultyError(self._count + 1, "the log does not end as it says")
        self._write(writing, trial)
        writing.add_subjects(trial, subjects)
        if fault := verify(writing, trial).fault:  # which looks at pseudonyms and free text too
            raise _FaultyError(fault.position, fault.what)
        erase_missing(writing, trial)
        return trial

    def _lines(self) -> Iterator[Any]:
        with self._path.open("rb") as file:
            for number, text in enumerate(file, 1):
                try:
                    yield _decoder.decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    if number == 1:
                        raise InputError(
                            "file", str(self._path), "a .log file that adhere trial export or Trial.save wrote"
                        ) from None
                    raise _FaultyError(self._count + 1, f"line {number} of the file cannot be read") from None

    def _take(self, line: RecordLine) -> None:
        body = line.body.encode()
        position = self._count + 1
        try:
            record = to_record(decode(body), body, line.hash)
        except msgspec.DecodeError as error:
            raise _FaultyError(position, f"cannot be read: {error}") from None
        event = checked_event(record, self._hash, position)
        if isinstance(event, Fault):
            raise _FaultyError(position, event.what)
        if isinstance(event, Created) and event.design.name != self.name:
            raise _FaultyError(position, f"the file says it is of trial {self.name!r}, not {event.design.name!r}")
        self._count, self._hash = position, record.hash
        self._waiting.append(record)

    def _write(self, writing: WriteTransaction, trial: int) -> None:
        # Without a snapshot: it is derived from the records when it is needed.
        writing.append(trial, self._waiting, Head(self._count, self._hash, b""))
        self._on_progress(len(self._waiting))
        self._waiting = []
