"""Writes to the access log; all reads that wait for it share one transaction, as commands do."""

from __future__ import annotations

import asyncio
import threading
from typing import NamedTuple

from adhere.service.group_commit import GroupCommit
from adhere.store import Store
from adhere.store.accesses import add_access


class Read(NamedTuple):
    """A read to be written down."""

    trial: int
    at: str
    token: int
    kind: str
    recommendation_id: str | None = None


class AccessLog:
    """The access log of a store, for one process."""

    def __init__(self, store: Store, group_commit: GroupCommit) -> None:
        self._store, self._group_commit = store, group_commit
        self._waiting: list[Read] = []
        self._written: asyncio.Future[None] | None = None  # done when those that wait are written
        self._lock = threading.Lock()  # they are taken by the writer's thread

    async def write(self, read: Read) -> None:
        """Write a read down; returns once it is durable."""
        with self._lock:
            if self._written is None:
                self._written = self._group_commit.run(self._write_waiting)
            self._waiting.append(read)
            written = self._written
        await asyncio.shield(written)  # others wait for it too

    def _write_waiting(self) -> None:
        with self._lock:
            reads, self._waiting, self._written = self._waiting, [], None
        with self._store.writing() as writing:
            # Always in the same order, so that two processes that count up the same rows cannot deadlock.
            for read in sorted(reads, key=lambda read: read[:4]):
                add_access(writing, *read)
