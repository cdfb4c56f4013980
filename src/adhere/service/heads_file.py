"""The file of verified heads: one line of JSON for each time that a trial's log was found to be whole.

Lines are only ever added, so that the file can be sent elsewhere line by line. A log alone does not show that its
last records were cut off; a head that those who keep the log cannot change does.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import msgspec

from adhere.errors import InputError

_BEGINNING = b'{"at"'


class VerifiedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a trial's log was whole, the position of its last record then, and that record's hash."""

    at: datetime
    trial: str
    record: int
    head: str


class HeadsFileError(Exception):
    """A line of the file that cannot be read."""


def read_heads(path: Path) -> dict[str, VerifiedHead]:
    """The latest head of each trial; a last line without an end was not written whole and does not count."""
    try:
        whole, _, rest = path.read_bytes().rpartition(b"\n")
    except FileNotFoundError:
        return {}
    if not rest.startswith(_BEGINNING[: len(rest)]):  # the next line would overwrite it
        raise HeadsFileError(f"{path}, last line: it is not the beginning of a head")
    found: dict[str, VerifiedHead] = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            head = msgspec.json.decode(line, type=VerifiedHead)
        except msgspec.DecodeError as error:
            raise HeadsFileError(f"{path}, line {number}: {error}") from None
        found[head.trial] = head
    return found


def check_heads_file(path: Path) -> None:
    """Refuse a folder, or a file of something else."""
    expected = "a file of verified heads, or a new one"
    try:
        read_heads(path)
    except HeadsFileError as error:
        raise InputError("--verify-heads", str(path), f"{expected} ({error})") from None
    except OSError as error:
        raise InputError("--verify-heads", str(path), f"{expected} ({error.strerror})") from None


def append_head(path: Path, head: VerifiedHead) -> None:
    """Add a line, durably and whole or not at all; a new file can be read by its owner only."""
    line = msgspec.json.encode(head) + b"\n"
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        end = _end_of_lines(file)
        os.ftruncate(file, end)
        try:
            if os.write(file, line) < len(line):
                raise OSError(f"{path}: the disk is full")
            os.fsync(file)
        except OSError:
            os.ftruncate(file, end)
            raise
    finally:
        os.close(file)


def _end_of_lines(file: int) -> int:
    """Where the last whole line ends."""
    size = os.fstat(file).st_size
    tail = min(size, 1 << 16)
    return size - tail + os.pread(file, tail, size - tail).rfind(b"\n") + 1
