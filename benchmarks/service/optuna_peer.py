"""Optuna's ask and tell on SQLite. python -m benchmarks.service.optuna_peer --help, in an environment with Optuna.

A pair is an ask (a trial with one categorical parameter of two values) and a tell (a reward of 0 or 1). There are two
setups: *plain*, as `optuna.create_study(storage="sqlite:///…")` comes, one study for all clients; and *tuned* for
speed, with a write-ahead log, arms drawn at random instead of by Optuna's default TPE sampler, and a study for each
client. Both put every commit on the disk before it returns, as the service does.
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
from collections.abc import Callable
from functools import lru_cache
from multiprocessing.synchronize import Barrier, Lock
from pathlib import Path
from typing import Any, NamedTuple

import optuna
import sqlalchemy

_PATIENCE = 60.0  # seconds for which SQLite, when tuned, waits for another writer


class Count(NamedTuple):
    """Pairs done, and pairs that Optuna gave up with an error."""

    done: float
    failed: int


def plain(database: Path, number: int) -> optuna.Study:
    """The one study of all clients, as it comes."""
    del number
    return optuna.create_study(
        storage=f"sqlite:///{database}", study_name="trial", direction="maximize", load_if_exists=True
    )


def tuned(database: Path, number: int) -> optuna.Study:
    """A client's own study, set up for speed."""
    sampler = optuna.samplers.RandomSampler(seed=number)
    return optuna.create_study(
        storage=_storage(database),
        study_name=f"client {number}",
        sampler=sampler,
        direction="maximize",
        load_if_exists=True,
    )


@lru_cache  # one for all threads of a process
def _storage(database: Path) -> optuna.storages.RDBStorage:
    made = optuna.storages.RDBStorage(f"sqlite:///{database}", engine_kwargs={"connect_args": {"timeout": _PATIENCE}})
    sqlalchemy.event.listen(made.engine, "connect", _keep_write_ahead_log)
    made.engine.dispose()  # connections made before the listener was there
    return made


def _keep_write_ahead_log(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def ask_and_tell(study: optuna.Study, rewards: random.Random, until: float) -> Count:
    """What is done before the time is up. Of the last pair, the part before that counts: none is lost, none given.

    A pair that fails, as when the file stays locked, is counted and left.
    """
    done, failed = 0.0, 0
    while (begun := time.monotonic()) < until:
        try:
            trial = study.ask()
            trial.suggest_categorical("arm", ("a", "b"))
            study.tell(trial, rewards.randrange(2))
            done += min(1.0, (until - begun) / (time.monotonic() - begun))
        except (optuna.exceptions.StorageInternalError, sqlalchemy.exc.OperationalError):
            failed += 1
    return Count(done, failed)


Setup = Callable[[Path, int], optuna.Study]
SETUPS: dict[str, Setup] = {"plain": plain, "tuned": tuned}


def in_threads(setup: str, database: Path, clients: int, seconds: float) -> list[Count]:
    """So many threads of one process; plain, they share the one study."""
    shared = [SETUPS[setup](database, 0)]
    studies = shared * clients if setup == "plain" else shared + [tuned(database, n) for n in range(1, clients)]
    counts = [Count(0.0, 0)] * clients
    until = time.monotonic() + seconds

    def work(number: int) -> None:
        counts[number] = ask_and_tell(studies[number], random.Random(number), until)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts


def in_processes(setup: str, database: Path, clients: int, seconds: float) -> list[Count]:
    """So many processes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["optuna", "sqlalchemy"])  # not imported by each of them anew
    barrier, done, failed = context.Barrier(clients), context.Array("d", clients), context.Array("q", clients)
    turn = context.Lock()
    given = [(setup, database, number, seconds, turn, barrier, done, failed) for number in range(clients)]
    processes = [context.Process(target=_process, args=one) for one in given]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [Count(*both) for both in zip(done[:], failed[:], strict=True)]


def _process(
    setup: str, database: Path, number: int, seconds: float, turn: Lock, barrier: Barrier, done: Any, failed: Any
) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with turn:  # who makes the tables must be alone
        study = SETUPS[setup](database, number)
    barrier.wait()
    done[number], failed[number] = ask_and_tell(study, random.Random(number), time.monotonic() + seconds)


WAYS = {"threads": in_threads, "processes": in_processes}


def main() -> int:
    """Measure one way on a new database; print how many pairs in how many seconds."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.service.optuna_peer", description="Optuna's ask + tell."
    )
    parser.add_argument("--setup", choices=sorted(SETUPS), default="plain")
    parser.add_argument("--way", choices=sorted(WAYS), default="threads")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        counts = WAYS[given.way](given.setup, Path(folder) / "optuna.db", given.clients, given.seconds)
    pairs, failed = sum(count.done for count in counts), sum(count.failed for count in counts)
    versions = {"Optuna": optuna.__version__, "SQLAlchemy": sqlalchemy.__version__}
    print(json.dumps({"pairs": pairs, "failed": failed, "seconds": given.seconds, "versions": versions}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
