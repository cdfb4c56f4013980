"""Processes that write to a store."""

from __future__ import annotations

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

from adhere.store import StoreError, open_store

from .places import append, make_trial, record

CONTEXT = multiprocessing.get_context("spawn")


def start(target: object, *arguments: object) -> SpawnProcess:
    process = CONTEXT.Process(target=target, args=arguments)  # type: ignore[arg-type]
    process.start()
    return process


def add_one_by_one(where: str, trial: int, name: str, count: int) -> None:
    """Append records, each behind what others wrote meanwhile."""
    store = open_store(where)
    for number in range(count):
        with store.writing() as transaction:
            head = transaction.lock_and_fetch(trial, [], [], [])()[0]
            append(transaction, trial, record(head.position + 1, f"{name}-{number}"))
    store.close()


def add_until_it_fails(where: str, trial: int, name: str, told: Path) -> None:
    """Append records until the store is gone; write down each that was acknowledged."""
    store = open_store(where)
    number = 0
    with told.open("ab", buffering=0) as file:
        try:
            while True:
                with store.writing() as transaction:
                    head = transaction.lock_and_fetch(trial, [], [], [])()[0]
                    append(transaction, trial, record(head.position + 1, f"{name}-{number}"))
                file.write(f"{name}-{number}\n".encode())
                number += 1
        except StoreError:
            store.close()


def make_the_trial(where: str, name: str, all_ready: Barrier, told: Path) -> None:
    """Open a store that may be new, and make a trial that may be there; write down its number or the error."""
    all_ready.wait(60.0)
    try:
        store = open_store(where)
        try:
            said = str(make_trial(store, name))
        finally:
            store.close()
    except (StoreError, ValueError) as error:
        said = str(error)
    with told.open("ab", buffering=0) as file:
        file.write(f"{said}\n".encode())


def write_and_stay(where: Path, ready: Path) -> None:
    """Write one record, say so, and keep the store open until killed."""
    store = open_store(where)
    trial = make_trial(store)
    with store.writing() as transaction:
        append(transaction, trial, record(1))
    ready.write_text(str(os.getpid()))
    time.sleep(600.0)


def append_until_killed(where: Path, count: int, told: Connection) -> None:
    """Append records, one a commit; say so, and keep the store open until killed."""
    store = open_store(where)
    trial = make_trial(store)
    for position in range(1, count + 1):
        with store.writing() as transaction:
            append(transaction, trial, record(position))
    told.send("done")
    time.sleep(600.0)
