"""Who is measured: adhere with trials prepared beforehand, and the bare log; and how load is put on them in turn."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from benchmarks.cpu.measuring import Timed
from benchmarks.service.load import Generator, Load, Outcome
from benchmarks.service.measuring import Server, free_port, serving
from benchmarks.service.skeleton import TOKEN

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.events import Recommended, Reported, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.writing.processor import CommandProcessor

ADHERE, SKELETON = "adhere", "a bare log"
THOMPSON, BOUNDED = "thompson/actual", "thompson-bounded(hierarchical(epsilon-greedy))"
CLIENTS = 16
ARMS = ("walk", "aspirin")
HORIZON = 1_000_000
_HASH, _REQUEST = 32, 36  # bytes of a hash and of a request's id, which the bare log keeps too

Where = str | Path  # a SQLite file, or postgresql://…


class FailedLoadError(Exception):
    """Requests were refused or lost."""


@dataclass
class Driven:
    """A server under load from many clients, and its milliseconds of the processor for a pair, run by run."""

    generator: Generator
    server: Server
    token: str
    cpu_ms: list[float] = field(default_factory=list)

    def load(
        self,
        trials: Sequence[str],
        *,
        clients: int = CLIENTS,
        seconds: float = 0.0,
        pairs: int = 0,
        rate: float = 0.0,
    ) -> Outcome:
        """Put one load on; every request must succeed."""
        before = self.server.cpu_seconds
        load = Load([self.server.port], trials, self.token, clients, seconds, pairs, rate)
        found = self.generator.run(load)
        if found.errors or not found.pairs:
            raise FailedLoadError(f"{found.pairs} pairs done; by status: {found.errors}")
        self.cpu_ms.append(1e3 * (self.server.cpu_seconds - before) / found.pairs)
        return found

    def timed(self, trials: Sequence[str], seconds: float, clients: int = CLIENTS) -> Timed:
        """The same as a measurement of a round: a decision is a pair."""
        found = self.load(trials, clients=clients, seconds=seconds)
        return Timed(found.seconds, found.pairs)


def prepare(where: Where, policies: Mapping[str, str]) -> str:
    """Make a trial of two arms by each name; the token of a site that may take part in them."""
    with closing(open_store(where)) as store:
        processor = CommandProcessor(store)
        for name, policy in policies.items():
            processor.create(make_design(name, policy, ARMS, n_patients=HORIZON))
        return Tokens(store).make("site", "bench", site="bench")[1]


def adhere_command(where: Where, port: int, workers: int = 1) -> list[str]:
    """How the service is started."""
    place = ["--database-url", where] if isinstance(where, str) else ["--data", str(where)]
    options = ["--port", str(port), "--workers", str(workers), "--log-level", "warning"]
    return [sys.executable, "-m", "adhere", "serve", *place, *options]


def serving_adhere(where: Where, workers: int = 1) -> AbstractContextManager[Server]:
    """The service under way on a free port."""
    port = free_port()
    return serving(adhere_command(where, port, workers), port)


@dataclass(frozen=True)
class RecordBytes:
    """What a pair's two records hold on average: body, hash and request id."""

    recommended: float
    reported: float

    @property
    def pair(self) -> float:
        """Both together."""
        return self.recommended + self.reported


def record_bytes(where: Where, trial: str) -> RecordBytes:
    """The records of a trial."""
    with closing(open_store(where, read_only=True)) as store, store.reading() as view:
        records = list(walk(view, view.trials()[trial]))
    by_kind: dict[type, list[int]] = {Recommended: [], Reported: []}
    for record in records[1:]:
        by_kind[type(decode(record.body))].append(len(record.body) + len(record.hash) + len(record.request_id or ""))
    return RecordBytes(mean(by_kind[Recommended]), mean(by_kind[Reported]))


def serving_skeleton(database: Path, like: RecordBytes) -> AbstractContextManager[Server]:
    """The bare log under way, which keeps as many bytes of each request as adhere."""
    port = free_port()
    sizes = [round(size) - _HASH - _REQUEST for size in (like.recommended, like.reported)]
    command = [sys.executable, "-m", "benchmarks.service.skeleton", "--port", str(port), "--database", str(database)]
    return serving([*command, "--recommend-bytes", str(sizes[0]), "--report-bytes", str(sizes[1])], port)


def drive_skeleton(generator: Generator, server: Server) -> Driven:
    """The bare log with its token."""
    return Driven(generator, server, TOKEN)
