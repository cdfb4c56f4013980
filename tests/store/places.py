"""Stores to test, and logs to fill them with."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Self

import psycopg

from adhere.store import Store, WriteTransaction, open_store
from adhere.store.records import Fetched, Head, Record

START = Head(0, b"start", b"{}")


class Place:
    """Where a store is. All that was opened there is closed at the end."""

    def __init__(self, where: str | Path | None) -> None:
        self.where = where
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, *, read_only: bool = False) -> Store:
        store = open_store(self.where, read_only=read_only)
        self._stack.callback(store.close)
        return store

    def run(self, sql: str) -> None:
        """Do something behind the store's back."""
        if isinstance(self.where, str):
            with psycopg.connect(self.where) as server:
                server.execute(sql)
        else:
            assert self.where is not None
            with closing(sqlite3.connect(self.where)) as file, file:
                file.execute(sql)


def make_trial(store: Store, name: str = "aspirin") -> int:
    with store.writing() as transaction:
        return transaction.add_trial(name, START)


def record(
    position: int, request_id: str | None = None, recommendation_index: int | None = None, subject: str | None = None
) -> Record:
    body, digest = f"body {position}".encode(), bytes([position % 256, 0, 255])
    return Record(position, body, digest, request_id, recommendation_index, subject)


def head_at(position: int) -> Head:
    return Head(position, record(position).hash, f'{{"records": {position}}}'.encode())


def append(transaction: WriteTransaction, trial: int, *records: Record) -> None:
    transaction.append(trial, records, head_at(records[-1].position))


def fill(store: Store, trial: int, *records: Record) -> None:
    with store.writing() as transaction:
        append(transaction, trial, *records)


def fetch(
    transaction: WriteTransaction,
    trial: int,
    request_ids: Sequence[str],
    recommendation_indices: Sequence[int],
    pseudonyms: Sequence[str],
) -> Fetched:
    """What a transaction finds, without the head."""
    return transaction.lock_and_fetch(trial, request_ids, recommendation_indices, pseudonyms)()[1]
