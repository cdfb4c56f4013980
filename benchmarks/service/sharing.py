"""PostgreSQL with four service processes beside SQLite with one, and a look at the log after every run."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
from benchmarks.cpu.measuring import Narrator, Rounds, Subject, Timed, alternate
from benchmarks.service.load import Generator
from benchmarks.service.subjects import THOMPSON, Driven, Where, prepare, serving_adhere
from tests.store.postgres_server import fresh_database, shared_server

from adhere.store import open_store
from adhere.trial.domain.events import Recommended, Reported, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.verify import verify

SQLITE, POSTGRES = "SQLite, 1 process", "PostgreSQL, 4 processes"
LOADS = {"one trial": 1, "4 trials": 4}
_WORKERS = 4
_WARM_UP = 400  # pairs before each run that are not timed


class UnsoundLogError(Exception):
    """A log does not hold what was acknowledged."""


@dataclass(frozen=True)
class Sharing:
    """Every round of both by load, the pairs whose logs were looked over, and PostgreSQL's version and fsync."""

    rounds: Rounds
    checked_pairs: int
    postgres: str
    fsync: str


def check(where: Where, trials: list[str], pairs: int) -> None:
    """The logs must hold each acknowledged pair once, no request id twice, and an unbroken chain.

    The clients finish all they begin, so nothing is in flight and the counts must be equal.
    """
    recommended = reported = 0
    requests: list[str] = []
    with closing(open_store(where, read_only=True)) as store, store.reading() as view:
        numbers = view.trials()
        for trial in trials:
            for record in walk(view, numbers[trial]):
                event = decode(record.body)
                recommended += isinstance(event, Recommended)
                reported += isinstance(event, Reported)
                if event.request_id:
                    requests.append(event.request_id)
            if fault := verify(view, numbers[trial]).fault:
                raise UnsoundLogError(f"{trial}: {fault}")
    if (recommended, reported) != (pairs, pairs):
        raise UnsoundLogError(f"{pairs} pairs acknowledged, but {recommended} recommendations, {reported} reports")
    if len(set(requests)) != len(requests):
        raise UnsoundLogError(f"{len(requests) - len(set(requests))} request ids more than once")


def measure(folder: Path, generator: Generator, n_rounds: int, seconds: float, narrator: Narrator) -> Sharing:
    """Every run has trials of its own, made beforehand, so that its log can be counted."""
    names = {
        load: [[f"of-{many}-run-{run}-{n}" for n in range(many)] for run in range(n_rounds)]
        for load, many in LOADS.items()
    }
    policies = {name: THOMPSON for runs in names.values() for run in runs for name in run} | {"warm-up": THOMPSON}
    checked = 0

    def subject(database: str, where: Where, driven: Driven, load: str) -> Subject:
        runs = iter(names[load])

        def run() -> Timed:
            nonlocal checked
            trials = next(runs)
            before = driven.load(trials, pairs=_WARM_UP).pairs  # every process comes to know the trials
            took = driven.timed(trials, seconds)
            check(where, trials, before + took.decisions)
            checked += before + took.decisions
            return took

        return Subject(database, load, run)

    with ExitStack() as stack:
        address = stack.enter_context(shared_server(folder))
        with psycopg.connect(address) as connection:
            postgres, fsync = (
                str(connection.execute(f"SHOW {name}").fetchone()[0])  # type: ignore[index]
                for name in ("server_version", "fsync")
            )
        places: list[tuple[str, Where, int]] = [
            (SQLITE, folder / "shared.db", 1),
            (POSTGRES, fresh_database(address), _WORKERS),
        ]
        subjects = []
        for database, where, workers in places:
            token = prepare(where, policies)
            driven = Driven(generator, stack.enter_context(serving_adhere(where, workers)), token)
            driven.load(["warm-up"], seconds=2.0)
            subjects += [subject(database, where, driven, load) for load in LOADS]
        # The two databases next to each other for each load.
        subjects.sort(key=lambda one: list(LOADS).index(one.policy))
        rounds = alternate(subjects, n_rounds, narrator)
    return Sharing(rounds, checked, postgres, fsync)
