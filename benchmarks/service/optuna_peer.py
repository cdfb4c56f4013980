"""Optuna's ask and tell on SQLite with the service's durability. python -m benchmarks.service.optuna_peer --help.

A pair is an ask (a trial with one categorical parameter of two values, drawn at random) and a tell (a reward of 0 or
1). Every client has its own study, because Optuna is faster so than with one study for all.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import threading
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import optuna
import sqlalchemy

_PATIENCE = 60.0  # seconds SQLite waits for another writer


def storage(database: Path) -> optuna.storages.RDBStorage:
    """Optuna's own storage; every commit is on the disk before it returns, as in the service."""
    made = optuna.storages.RDBStorage(f"sqlite:///{database}", engine_kwargs={"connect_args": {"timeout": _PATIENCE}})
    sqlalchemy.event.listen(made.engine, "connect", _make_durable)
    made.engine.dispose()  # connections made before the listener was there
    return made


def _make_durable(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def ask_and_tell(study: optuna.Study, rewards: random.Random, until: float) -> int:
    """Pairs done before the time is up."""
    pairs = 0
    while time.monotonic() < until:
        trial = study.ask()
        trial.suggest_categorical("arm", ("a", "b"))
        study.tell(trial, rewards.randrange(2))
        pairs += 1
    return pairs


def _study(of: optuna.storages.RDBStorage, number: int) -> optuna.Study:
    sampler = optuna.samplers.RandomSampler(seed=number)
    return optuna.create_study(
        storage=of, study_name=f"client {number}", sampler=sampler, direction="maximize", load_if_exists=True
    )


def in_threads(database: Path, clients: int, seconds: float) -> float:
    """Pairs a second of so many threads of one process, which share a storage."""
    shared = storage(database)
    studies = [_study(shared, number) for number in range(clients)]
    counts = [0] * clients
    until = time.monotonic() + seconds

    def work(number: int) -> None:
        counts[number] = ask_and_tell(studies[number], random.Random(number), until)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    return _rate(threads, counts)


def in_processes(database: Path, clients: int, seconds: float) -> float:
    """Pairs a second of so many processes."""
    shared = storage(database)
    for number in range(clients):
        _study(shared, number)
    shared.engine.dispose()
    context = multiprocessing.get_context("spawn")
    barrier, counts = context.Barrier(clients + 1), context.Array("q", clients)
    arguments = [(database, number, seconds, barrier, counts) for number in range(clients)]
    processes = [context.Process(target=_process, args=given) for given in arguments]
    for process in processes:
        process.start()
    barrier.wait()
    start = time.monotonic()
    for process in processes:
        process.join()
    return float(sum(counts[:])) / (time.monotonic() - start)


def _process(database: Path, number: int, seconds: float, barrier: Barrier, counts: Any) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = _study(storage(database), number)
    ask_and_tell(study, random.Random(), time.monotonic())  # nothing, but everything is imported
    barrier.wait()
    counts[number] = ask_and_tell(study, random.Random(number), time.monotonic() + seconds)


def _rate(threads: list[threading.Thread], counts: list[int]) -> float:
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return float(sum(counts[:])) / (time.monotonic() - start)


WAYS = {"threads": in_threads, "processes": in_processes}


def main() -> int:
    """Measure one way on a new database and print pairs a second."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.service.optuna_peer", description="Optuna's ask + tell."
    )
    parser.add_argument("--way", choices=sorted(WAYS), default="threads")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        rate = WAYS[given.way](Path(folder) / "optuna.db", given.clients, given.seconds)
    print(json.dumps({"way": given.way, "clients": given.clients, "pairs_a_second": rate}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
