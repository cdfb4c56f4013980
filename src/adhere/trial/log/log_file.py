"""Write a trial's log to a file of JSON lines, and read it back: to archive, verify, replay or move it.

The first line names the format and the trial. It is followed by the records with their hashes, then by the pseudonyms
and free texts, which are stored outside the chain, and last by the head. The file does not contain the secret that
draws arms, unless a record has revealed it.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from adhere.errors import InputError
from adhere.store import Head, ReadTransaction, Record, Store, Subject, WriteTransaction
from adhere.store.subjects import erase_missing
from adhere.trial.domain.events import LOG_FORMAT, Created, EpochBegun, Revealed, created_event, decode, to_record
from adhere.trial.domain.log_records import START, walk
from adhere.trial.log.verify import IntegrityError, checked_event, verify
from adhere.trial.secret.trial_secret import commitment_to
from adhere.trial.writing.creation import begin_epoch
from adhere.trial.writing.snapshot import summary_of

_AT_ONCE = 1000


class Start(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="adhere-log"):
    """The first line of a log file: its format and the trial's name."""

    format: int = 1
    trial: str


class RecordLine(msgspec.Struct, frozen=True, tag_field="line", tag="record", forbid_unknown_fields=True):
    """A record: its body, unchanged, and its hash, in base64 like all bytes in the file."""

    hash: bytes
    body: str


class SubjectLine(msgspec.Struct, frozen=True, tag_field="line", tag="subject", forbid_unknown_fields=True):
    """A subject with a key in the log."""

    subject: Subject


class NoteLine(msgspec.Struct, frozen=True, tag_field="line", tag="note", forbid_unknown_fields=True):
    """The free text of a record."""

    position: int
    salt: bytes
    text: str


class End(msgspec.Struct, frozen=True, tag_field="line", tag="head", forbid_unknown_fields=True):
    """The last line of a log file: the number of records, and the hash of the last record."""

    position: int
    hash: str


_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Start | RecordLine | SubjectLine | NoteLine | End] = msgspec.json.Decoder(
    Start | RecordLine | SubjectLine | NoteLine | End
)


def write_log(
    view: ReadTransaction, trial: int, path: Path, on_progress: Callable[[int], None] = lambda n: None
) -> str:
    """Write a trial's log and return the hash of its head."""
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
    path: Path,
    store: Store,
    on_progress: Callable[[int], None] = lambda n: None,
    finish: Callable[[WriteTransaction, int], None] = lambda writing, trial: None,
) -> tuple[str, IntegrityError | None]:
    """Read a log into a store for inspection. Return the trial's name and the first fault, if any.

    If there is a fault, nothing is stored.
    """
    reading = _LogReading(path, on_progress)
    try:
        with store.writing() as writing:
            finish(writing, reading.into(writing))
    except _FaultyError as error:
        return reading.name, error.fault
    return reading.name, None


def import_log(
    path: Path,
    store: Store,
    secrets: Sequence[bytes],
    at: datetime,
    on_progress: Callable[[int], None] = lambda n: None,
) -> tuple[str, IntegrityError | None]:
    """Import a log, with its secrets, so that the trial can continue in this store.

    The log may be older than the trial. Arms are therefore drawn by a fresh secret from here on, in a new epoch.
    """

    def save_secrets(writing: WriteTransaction, trial: int) -> None:
        created, commitments = created_event(writing, trial), _commitments(writing, trial)
        given = {commitment_to(secret): secret for secret in secrets}
        if other := given.keys() - set(commitments):
            what = f"a secret with the commitment {min(other)}"
            raise InputError("secrets", what, "only secrets that the log has commitments to")
        is_over = summary_of(writing, trial).status == "closed"
        for commitment in commitments:
            if writing.secret(commitment) is not None:  # for example because the log reveals it
                continue
            if commitment in given:
                writing.save_secret(trial, commitment, given[commitment])
            elif not is_over:
                expected = "those of this trial: --secrets FILE, which adhere trial export writes too"
                raise InputError("secrets", "none" if not given else "not all of them", expected)
        if created.is_live and not is_over:
            begin_epoch(writing, trial, at, "imported from a log, which may be older than the trial")

    return read_log(path, store, on_progress, save_secrets)


def secrets_of(view: ReadTransaction, trial: int) -> list[bytes]:
    """Return the secrets of all epochs of a trial, or an empty list if one of them is missing, since all are
    needed.
    """
    found = [view.secret(commitment) for commitment in _commitments(view, trial)]
    known = [secret for secret in found if secret is not None]
    return known if len(known) == len(found) else []


def _commitments(view: ReadTransaction, trial: int) -> list[str]:
    """Return the commitments of all epochs in order, without epochs that use a seed."""
    events = (decode(record.body) for record in walk(view, trial))
    return [event.commitment for event in events if isinstance(event, Created | EpochBegun) and event.commitment]


class _FaultyError(Exception):
    def __init__(self, position: int, what: str) -> None:
        self.fault = IntegrityError(position, what)


class _LogReading:
    def __init__(self, path: Path, on_progress: Callable[[int], None]) -> None:
        self._path, self._on_progress = path, on_progress
        self.name = ""
        self._count, self._hash = 0, START
        self._waiting: list[Record] = []
        self._revealed: tuple[str, ...] = ()

    def into(self, writing: WriteTransaction) -> int:
        lines = self._lines()
        first = next(lines, None)
        if not isinstance(first, Start):
            raise InputError("file", str(self._path), "a .log file that adhere trial export or Trial.save wrote")
        if first.format != LOG_FORMAT:
            found = f"a log of format {first.format}"
            raise InputError("file", found, f"format {LOG_FORMAT}, which this version of adhere reads")
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
                    what = f"a free text belongs to record {line.position}, which does not exist"
                    raise _FaultyError(self._count, what)
                writing.save_note(trial, line.position, line.salt, line.text)
            elif isinstance(line, End):
                end = line
        if not self._count or end is None or (end.position, end.hash) != (self._count, self._hash.hex()):
            raise _FaultyError(self._count + 1, "the end of the log does not match its last line")
        self._write(writing, trial)
        writing.add_subjects(trial, subjects)
        if fault := verify(writing, trial).fault:  # pseudonyms and free texts are verified too
            raise _FaultyError(fault.position, fault.what)
        erase_missing(writing, trial)
        for secret in filter(None, self._revealed):
            writing.save_secret(trial, commitment_to(bytes.fromhex(secret)), bytes.fromhex(secret))
        return trial

    def _lines(self) -> Iterator[Any]:
        with self._path.open("rb") as file:
            for number, text in enumerate(file, 1):
                try:
                    yield _decoder.decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    if number == 1:
                        return
                    raise _FaultyError(self._count + 1, f"line {number} of the file cannot be read") from None

    def _take(self, line: RecordLine) -> None:
        body = line.body.encode()
        position = self._count + 1
        try:
            record = to_record(decode(body), body, line.hash)
        except msgspec.DecodeError as error:
            raise _FaultyError(position, f"cannot be read: {error}") from None
        event = checked_event(record, self._hash, position)
        if isinstance(event, IntegrityError):
            raise _FaultyError(position, event.what)
        if isinstance(event, Created) and event.design.name != self.name:
            raise _FaultyError(position, f"the file names trial {self.name!r}, but its log {event.design.name!r}")
        if isinstance(event, Revealed):
            self._revealed = event.secrets
        self._count, self._hash = position, record.hash
        self._waiting.append(record)

    def _write(self, writing: WriteTransaction, trial: int) -> None:
        # No snapshot is stored: it is derived from the records when it is needed.
        writing.append(trial, self._waiting, Head(self._count, self._hash, b""))
        self._on_progress(len(self._waiting))
        self._waiting = []
