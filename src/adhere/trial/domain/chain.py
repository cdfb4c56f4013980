"""The hash chain: each record's hash covers its body and the hash before it, so that every change is detected."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Final

from adhere.store import ReadTransaction, Record

START: Final = bytes(32)
_BEFORE_ALL: Final = -(2**62)


def link(before: bytes, body: bytes) -> bytes:
    """The hash of a record, from that of the record before it."""
    return hashlib.sha256(before + body).digest()


def commitment(salt: bytes, text: str) -> str:
    """A digest that replaces a text; it reveals nothing once the salt is deleted."""
    return hashlib.sha256(salt + text.encode()).hexdigest()[:32]


def walk(view: ReadTransaction, trial: int, on_progress: Callable[[int], None] = lambda n: None) -> Iterator[Record]:
    """All records of a trial, in order."""
    after = _BEFORE_ALL  # not 0: a record inserted before the first must be found
    while some := view.records(trial, after):
        yield from some
        after = some[-1].position
        on_progress(len(some))
