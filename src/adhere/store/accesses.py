"""The access log: who read what of a trial, and when. It stands beside the chain, in a table of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from adhere.store.transactions import ReadTransaction, WriteTransaction

MAX_ID: Final = 2**62
_ACCESSES = """SELECT accesses.id, at, token, COALESCE(label, ''), kind, recommendation_id, head, n
    FROM accesses LEFT JOIN tokens ON tokens.id = token WHERE accesses.trial = ?"""


class Access(NamedTuple):
    """A read, or several of one kind in ten minutes: `at` is then the beginning of these, and `n` says how many.

    `head` is the hash of the log's last record when the (last) read was written down, so that nothing after it was
    seen.
    """

    id: int
    at: str
    token: int
    label: str  # of the token, also of one that was revoked
    kind: str
    recommendation_id: str | None
    head: bytes
    n: int


def add_access(
    writing: WriteTransaction, trial: int, at: str, token: int, kind: str, recommendation_id: str | None = None
) -> None:
    """Write down a read; one of the same token, trial, kind and time, of no single recommendation, is counted up."""
    # The head is taken by the same statement. A second reader in the same window waits for the first one's row.
    sql = """INSERT INTO accesses (at, token, trial, kind, recommendation_id, head, n)
        SELECT ?, ?, id, ?, ?, hash, 1 FROM trials WHERE id = ?
        ON CONFLICT (token, trial, kind, at) WHERE recommendation_id IS NULL
        DO UPDATE SET n = accesses.n + 1, head = excluded.head"""
    writing.run(sql, (at, token, kind, recommendation_id, trial))


def accesses(view: ReadTransaction, trial: int, after: int = 0, limit: int = 1000) -> Sequence[Access]:
    """The reads of a trial whose numbers are above `after`, in order."""
    sql = f"{_ACCESSES} AND accesses.id > ? ORDER BY accesses.id LIMIT ?"
    return [Access(*row) for row in view.run(sql, (trial, after, limit)).fetchall()]


def accesses_before(view: ReadTransaction, trial: int, before: int, limit: int) -> Sequence[Access]:
    """The reads of a trial whose numbers are below `before`, the newest first."""
    sql = f"{_ACCESSES} AND accesses.id < ? ORDER BY accesses.id DESC LIMIT ?"
    return [Access(*row) for row in view.run(sql, (trial, before, limit)).fetchall()]
